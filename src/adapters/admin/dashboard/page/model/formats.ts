/** Numbers and times as people read them, in the reader's own language and time zone unless told otherwise. */
export interface Formats {
  /** `12.5`, `1,234`. */
  number(value: number): string;
  /** `12.5/s`. */
  rate(perSecond: number): string;
  percent(share: number): string;
  /** `1.5 MiB`. */
  bytes(bytes: number): string;
  /** `0.8 ms`, `12 s`, `3 min 5 s`, `2 h 4 min`, `5 d 1 h`. */
  duration(ms: number): string;
  /** `14:02:31`; with the day where it is another one than that of `nowMs`. Both are ms since 1970. */
  time(wallMs: number, nowMs: number): string;
}

const DASH = '\u2013';

export function createFormats(locale?: string, timeZone?: string): Formats {
  const zone = timeZone === undefined ? {} : { timeZone };
  const digits = (maximumFractionDigits: number) =>
    new Intl.NumberFormat(locale, { maximumFractionDigits });
  const [whole, tenths, hundredths] = [digits(0), digits(1), digits(2)];
  const percents = new Intl.NumberFormat(locale, { style: 'percent', maximumFractionDigits: 0 });
  const clock = {
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
    hourCycle: 'h23',
  } as const;
  const times = new Intl.DateTimeFormat(locale, { ...clock, ...zone });
  const days = new Intl.DateTimeFormat(locale, { month: 'short', day: 'numeric', ...zone });

  const number = (value: number): string => {
    if (!Number.isFinite(value)) return DASH;
    const size = Math.abs(value);
    return (size >= 100 ? whole : size >= 10 ? tenths : hundredths).format(value);
  };
  return {
    number,
    rate: (perSecond) => `${number(perSecond)}/s`,
    percent: (share) => (Number.isFinite(share) ? percents.format(share) : DASH),
    bytes(bytes) {
      const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];
      let [value, unit] = [bytes, 0];
      while (value >= 1024 && unit < units.length - 1) [value, unit] = [value / 1024, unit + 1];
      return `${number(value)} ${units[unit]}`;
    },
    duration(ms) {
      if (!Number.isFinite(ms)) return DASH;
      if (ms < 1000) return `${number(Math.max(0, ms))} ms`;
      const seconds = Math.floor(ms / 1000);
      const [d, h, min, s] = [86_400, 3600, 60, 1].map((size, i, sizes) =>
        Math.floor((i === 0 ? seconds : seconds % (sizes[i - 1] as number)) / size),
      ) as [number, number, number, number];
      const parts = [`${whole.format(d)} d`, `${h} h`, `${min} min`, `${s} s`];
      const first = [d, h, min, s].findIndex((value) => value > 0);
      return [d, h, min, s]
        .flatMap((value, i) => (value > 0 && i >= first && i <= first + 1 ? [parts[i]] : []))
        .join(' ');
    },
    time(wallMs, nowMs) {
      if (!Number.isFinite(wallMs)) return DASH;
      const day = days.format(wallMs);
      const time = times.format(wallMs);
      return day === days.format(nowMs) ? time : `${day} ${time}`;
    },
  };
}
