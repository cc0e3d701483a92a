/** A path of this dashboard to continue to, never another site; anything else leads to the start page. */
export function safeReturn(path: string): string {
  const url = URL.parse(path, location.origin)
  return path.startsWith('/') && url?.origin === location.origin ? url.pathname + url.search + url.hash : '/'
}
