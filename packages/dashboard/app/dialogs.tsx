import { lazy, Suspense } from 'react'
import { stepUp, unlocking } from './question.ts'

// Loaded when first asked for: nobody needs them to see a page.
const StepUpDialog = lazy(async () => ({ default: (await import('./step-up.tsx')).StepUpDialog }))
const UnlockDialog = lazy(async () => ({ default: (await import('./unlock.tsx')).UnlockDialog }))

// A question lies on top of the dialog that raised it, which would hear Escape as well, and before it: listeners of the
// window are called in the order in which they came, so that this one has to be there first.
addEventListener(
  'keydown',
  (event) => {
    const asked = [stepUp, unlocking].find((question) => question.isOpen())
    if (!asked || event.key !== 'Escape' || event.isComposing) return
    event.stopImmediatePropagation()
    asked.cancel()
  },
  { capture: true },
)

/** The two questions that any request may raise. */
export function Dialogs() {
  const confirming = stepUp.useOpen()
  const locked = unlocking.useOpen()
  return (
    <Suspense>
      {locked && <UnlockDialog />}
      {confirming && <StepUpDialog />}
    </Suspense>
  )
}
