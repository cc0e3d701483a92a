import { useState } from 'react'

/** The token after the # of a mailed link. It is removed from the address, and so from the history, at once. */
export function useLinkToken(): string {
  const [token] = useState(() => {
    const hash = location.hash.slice(1)
    history.replaceState(history.state, '', location.pathname + location.search)
    return hash
  })
  return token
}
