/**
 * Text as Postgres can hold it: it knows neither NUL nor half a surrogate pair. Both become six visible characters, such as
 * `\u0000`; everything else stays as it is, control characters included.
 */
export function postgresText(text: string): string {
  return text.replace(/\0|\p{Surrogate}/gu, (one) => {
    return `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`;
  });
}
