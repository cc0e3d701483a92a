/** A path of this dashboard to go on to, never another site: what is not such a path leads to the start. */
export function safeReturn(path: string): string {
  const url = URL.parse(path, location.origin)
  return path.startsWith('/') && url?.origin === location.origin ? url.pathname + url.search + url.hash : '/'
}
