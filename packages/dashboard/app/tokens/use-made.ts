import { usePlaintext } from '../keyring.ts'

/**
 * What was just made and exists in this page alone: a token, or access to something. It is shown until the person has kept
 * it. When the keyring locks, it is forgotten and still shown, so that the page can say so.
 *
 * @example
 * const made = useMade<string>()
 * {creating && <NewKeyDialog onClose={onClose} onMade={made.show} />}
 * <ShownWhenMade made={made} token={made.value} title="The new platform key" what="key">
 */
export function useMade<T>() {
  const [value, show, wasCleared] = usePlaintext<T | null>(null)
  return { value, show, isShown: value !== null || wasCleared, forget: () => show(null) }
}

export type Made<T> = ReturnType<typeof useMade<T>>
