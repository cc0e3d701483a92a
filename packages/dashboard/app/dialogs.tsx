import { lazy, Suspense } from 'react'
import { stepUpPrompt, swappedPrompt, unlockPrompt } from './prompts.ts'

// Loaded when first opened: pages are shown without them.
const StepUpDialog = lazy(async () => ({ default: (await import('./step-up.tsx')).StepUpDialog }))
const SwappedDialog = lazy(async () => ({ default: (await import('./envs/swapped.tsx')).SwappedDialog }))
const UnlockDialog = lazy(async () => ({ default: (await import('./unlock.tsx')).UnlockDialog }))

/** The prompts that any request may open. */
export function Dialogs() {
  const confirming = stepUpPrompt.useOpen()
  const locked = unlockPrompt.useOpen()
  const isSwapped = swappedPrompt.useOpen()
  return (
    <Suspense>
      {isSwapped && <SwappedDialog />}
      {locked && <UnlockDialog />}
      {confirming && <StepUpDialog />}
    </Suspense>
  )
}
