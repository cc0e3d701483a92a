import { type ComponentProps, lazy, Suspense } from 'react'
import type { ShownOnce as Dialog } from './shown-once.tsx'
import type { Made } from './use-made.ts'

// Loaded when first asked for.
const ShownOnce = lazy(async () => ({ default: (await import('./shown-once.tsx')).ShownOnce }))

type Props = Omit<ComponentProps<typeof Dialog>, 'onClose'> & {
  made: Pick<Made<unknown>, 'isShown' | 'forget'>
  /** When the person has kept it: without one it is forgotten, and nothing more. */
  onClose?: () => void
}

/** What `useMade` holds, in a dialog, from when it is made until the person has kept it. */
export function ShownWhenMade({ made, onClose = made.forget, ...props }: Props) {
  return <Suspense>{made.isShown && <ShownOnce {...props} onClose={onClose} />}</Suspense>
}
