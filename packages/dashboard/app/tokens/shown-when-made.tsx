import { type ComponentProps, lazy, Suspense } from 'react'
import { usePlaintext } from '../keyring.ts'
import type { ShownOnce as Dialog } from './shown-once.tsx'

// Loaded when first asked for.
const ShownOnce = lazy(async () => ({ default: (await import('./shown-once.tsx')).ShownOnce }))

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

type Props = Omit<ComponentProps<typeof Dialog>, 'onClose'> & {
  made: Pick<ReturnType<typeof useMade>, 'isShown' | 'forget'>
  /** When the person has kept it: without one it is forgotten, and nothing more. */
  onClose?: () => void
}

/** What `useMade` holds, in a dialog, from when it is made until the person has kept it. */
export function ShownWhenMade({ made, onClose = made.forget, ...props }: Props) {
  return <Suspense>{made.isShown && <ShownOnce {...props} onClose={onClose} />}</Suspense>
}
