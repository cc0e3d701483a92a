import { lazy, Suspense } from 'react'
import { stepUpPrompt, unlockPrompt } from './prompts.ts'

// Loaded when first asked for: nobody needs them to see a page.
const StepUpDialog = lazy(async () => ({ default: (await import('./step-up.tsx')).StepUpDialog }))
const UnlockDialog = lazy(async () => ({ default: (await import('./unlock.tsx')).UnlockDialog }))

/** The two questions that any request may raise. */
export function Dialogs() {
  const confirming = stepUpPrompt.useOpen()
  const locked = unlockPrompt.useOpen()
  return (
    <Suspense>
      {locked && <UnlockDialog />}
      {confirming && <StepUpDialog />}
    </Suspense>
  )
}
