import { lazy, Suspense } from 'react'
import { stepUpPrompt, unlockPrompt } from './prompts.ts'

// Loaded when first opened: pages are shown without them.
const StepUpDialog = lazy(async () => ({ default: (await import('./step-up.tsx')).StepUpDialog }))
const UnlockDialog = lazy(async () => ({ default: (await import('./unlock.tsx')).UnlockDialog }))

/** The two prompts that any request may open. */
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
