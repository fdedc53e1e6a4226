/**
 * The text of an IPv6 address as RFC 5952 writes it: lower case, no leading zeros, the longest run of two or more zero
 * groups as `::`. An IPv4 address that is mapped into it stays IPv6 (`::ffff:a00:7`): whoever writes it so means the
 * socket, not the peer behind it. A zone (`%eth0`) is part of the address.
 * @returns undefined for what is none.
 */
export function canonicalIpv6(text: string): string | undefined {
  const [address = '', ...zones] = text.split('%');
  const zone = zones.length === 0 ? '' : `%${zones.join('%')}`;
  if (zone === '%') return undefined;
  const groups = parse(address);
  return groups === undefined ? undefined : write(groups) + zone;
}

const GROUPS = 8;

function parse(address: string): number[] | undefined {
  const halves = address.split('::');
  if (halves.length > 2) return undefined;
  const [head, tail] = halves.map(groupsOf);
  if (head === undefined || (halves.length === 2 && tail === undefined)) return undefined;
  if (tail === undefined) return head.length === GROUPS ? head : undefined;
  const missing = GROUPS - head.length - tail.length;
  // `::` stands for at least one group.
  if (missing < 1) return undefined;
  return [...head, ...new Array<number>(missing).fill(0), ...tail];
}

function groupsOf(half: string): number[] | undefined {
  if (half === '') return [];
  const parts = half.split(':');
  const last = parts.at(-1) as string;
  const embedded = last.includes('.') ? ipv4Groups(last) : [];
  if (embedded === undefined) return undefined;
  if (embedded.length > 0) parts.pop();
  if (!parts.every((part) => /^[0-9a-f]{1,4}$/i.test(part))) return undefined;
  return [...parts.map((part) => Number.parseInt(part, 16)), ...embedded];
}

function ipv4Groups(text: string): number[] | undefined {
  const bytes = text.split('.').map((part) => (/^\d{1,3}$/.test(part) ? Number(part) : 256));
  if (bytes.length !== 4 || bytes.some((byte) => byte > 255)) return undefined;
  const [a, b, c, d] = bytes as [number, number, number, number];
  return [a * 256 + b, c * 256 + d];
}

function write(groups: readonly number[]): string {
  const { start, length } = longestZeros(groups);
  const hex = groups.map((group) => group.toString(16));
  if (length < 2) return hex.join(':');
  return `${hex.slice(0, start).join(':')}::${hex.slice(start + length).join(':')}`;
}

function longestZeros(groups: readonly number[]): { start: number; length: number } {
  let best = { start: 0, length: 0 };
  let start = 0;
  for (const [i, group] of groups.entries()) {
    if (group !== 0) start = i + 1;
    else if (i + 1 - start > best.length) best = { start, length: i + 1 - start };
  }
  return best;
}
