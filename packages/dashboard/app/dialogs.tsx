import { lazy, Suspense } from 'react'
import { stepUp, swapped, unlocking } from './question.ts'

// Loaded when first asked for: nobody needs them to see a page.
const StepUpDialog = lazy(async () => ({ default: (await import('./step-up.tsx')).StepUpDialog }))
const SwappedDialog = lazy(async () => ({ default: (await import('./envs/swapped.tsx')).SwappedDialog }))
const UnlockDialog = lazy(async () => ({ default: (await import('./unlock.tsx')).UnlockDialog }))

/** The questions that any request may raise. */
export function Dialogs() {
  const confirming = stepUp.useOpen()
  const locked = unlocking.useOpen()
  const isSwapped = swapped.useOpen()
  return (
    <Suspense>
      {isSwapped && <SwappedDialog />}
      {locked && <UnlockDialog />}
      {confirming && <StepUpDialog />}
    </Suspense>
  )
}
