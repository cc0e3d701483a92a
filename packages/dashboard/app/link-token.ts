import { useState } from 'react'

/**
 * Returns the token after the # of a link from an e-mail. It removes the token from the address at once, so that the
 * browser history does not keep it.
 */
export function useLinkToken(): string {
  const [token] = useState(() => {
    const hash = location.hash.slice(1)
    history.replaceState(history.state, '', location.pathname + location.search)
    return hash
  })
  return token
}
