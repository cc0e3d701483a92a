import { useState } from 'react'

/** The token behind the # of a mailed link; it leaves the address at once, and so the history. */
export function useLinkToken(): string {
  const [token] = useState(() => {
    const hash = location.hash.slice(1)
    history.replaceState(history.state, '', location.pathname + location.search)
    return hash
  })
  return token
}
