import { useLocalStorage } from '@mantine/hooks'

/**
 * Whether the page with the first steps is in the sidebar. It is after an organization was made in this browser, until
 * the person hides it.
 */
export function useStart(orgId: string) {
  const [shown, setShown] = useLocalStorage<string[]>({
    key: storageKey,
    defaultValue: [],
    getInitialValueInEffect: false,
  })
  return { isShown: shown.includes(orgId), hide: () => setShown(shown.filter((id) => id !== orgId)) }
}

const storageKey = 'skerry-start'

/** Puts the page with the first steps into the sidebar. */
export function beginStart(orgId: string): void {
  const shown: unknown = JSON.parse(localStorage.getItem(storageKey) ?? '[]')
  localStorage.setItem(storageKey, JSON.stringify([...(Array.isArray(shown) ? shown : []), orgId]))
}
