/**
 * Returns the path to continue to. Only paths of this dashboard are allowed: anything else, such as another site,
 * becomes the start page.
 */
export function safeReturn(path: string): string {
  const url = URL.parse(path, location.origin)
  return path.startsWith('/') && url?.origin === location.origin ? url.pathname + url.search + url.hash : '/'
}
