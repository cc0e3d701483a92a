import { type ComponentProps, lazy, Suspense } from 'react'
import type { ShownOnce as Dialog } from './shown-once.tsx'

// Loaded when first asked for.
const ShownOnce = lazy(async () => ({ default: (await import('./shown-once.tsx')).ShownOnce }))

/** What `usePlaintext` holds of a secret, in a dialog, from when it is made until the person has kept it. */
export function ShownWhenMade({ wasCleared, ...props }: ComponentProps<typeof Dialog> & { wasCleared: boolean }) {
  return <Suspense>{(props.token !== null || wasCleared) && <ShownOnce {...props} />}</Suspense>
}
