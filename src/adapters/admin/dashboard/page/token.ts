/** The admin token, as long as the tab lives. Never in an address, where it would be kept and passed on. */
const KEY = 'spillway-token';

/** Takes the token out of `#token=T`, and the fragment out of the address. @returns whether there was one. */
export function takeToken(): boolean {
  const { hash, pathname, search } = location;
  if (!hash.startsWith('#token=')) return false;
  history.replaceState(null, '', pathname + search);
  const text = hash.slice('#token='.length);
  try {
    keepToken(decodeURIComponent(text));
  } catch {
    keepToken(text);
  }
  return true;
}

export function keepToken(token: string): void {
  sessionStorage.setItem(KEY, token);
}

export function keptToken(): string | undefined {
  return sessionStorage.getItem(KEY) ?? undefined;
}
