import { useLocalStorage } from '@mantine/hooks'

const recentMax = 5

/**
 * The ids of what this person chose last in the palette, the newest first. The browser keeps them, so they never hold
 * the name of a secret.
 */
export function useRecents(orgId: string) {
  const [all, setAll] = useLocalStorage<Record<string, string[]>>({
    key: 'skerry-recent',
    defaultValue: {},
    getInitialValueInEffect: false,
  })
  const recents = all[orgId] ?? []
  const note = (id: string) =>
    setAll({ ...all, [orgId]: [id, ...recents.filter((one) => one !== id)].slice(0, recentMax) })
  return { recents, note }
}
