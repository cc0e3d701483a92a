import { type ComponentProps, lazy, Suspense } from 'react'
import { usePlaintext } from '../keyring.ts'
import type { ShownOnce as Dialog } from './shown-once.tsx'

// This part of the page is loaded when it first opens.
const ShownOnce = lazy(async () => ({ default: (await import('./shown-once.tsx')).ShownOnce }))

/**
 * State for a new secret that exists only in this page, such as a token or a lease. It is kept until the person
 * confirms that they saved it. When the keyring locks, the value is forgotten, but `isShown` stays true so that the
 * page can say so.
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
  /** Called after the person has saved it. The default forgets the value. */
  onClose?: () => void
}

/** Shows the value of `useMade` in a dialog until the person has saved it. */
export function ShownWhenMade({ made, onClose = made.forget, ...props }: Props) {
  return <Suspense>{made.isShown && <ShownOnce {...props} onClose={onClose} />}</Suspense>
}
