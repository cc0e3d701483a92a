import { lazy, Suspense } from 'react'
import { pinPrompt, readersPrompt, stepUpPrompt, swappedPrompt, targetPrompt, unlockPrompt } from './prompts.ts'

// Each dialog is loaded when it first opens, so that pages do not wait for its code.
const StepUpDialog = lazy(async () => ({ default: (await import('./step-up.tsx')).StepUpDialog }))
const SwappedDialog = lazy(async () => ({ default: (await import('./envs/swapped.tsx')).SwappedDialog }))
const NewReadersDialog = lazy(async () => ({ default: (await import('./envs/new-readers.tsx')).NewReadersDialog }))
const ChangedTargetDialog = lazy(async () => ({
  default: (await import('./leases/changed-target.tsx')).ChangedTargetDialog,
}))
const PinDialog = lazy(async () => ({ default: (await import('./trust/pin-dialog.tsx')).PinDialog }))
const UnlockDialog = lazy(async () => ({ default: (await import('./unlock.tsx')).UnlockDialog }))

/** The prompts that any request may open. */
export function Dialogs() {
  const confirming = stepUpPrompt.useOpen()
  const locked = unlockPrompt.useOpen()
  const isSwapped = swappedPrompt.useOpen()
  const hasNewReaders = readersPrompt.useOpen()
  const needsPin = pinPrompt.useOpen()
  const hasChangedTarget = targetPrompt.useOpen()
  return (
    <Suspense>
      {isSwapped && <SwappedDialog />}
      {hasNewReaders && <NewReadersDialog />}
      {hasChangedTarget && <ChangedTargetDialog />}
      {needsPin && <PinDialog />}
      {locked && <UnlockDialog />}
      {confirming && <StepUpDialog />}
    </Suspense>
  )
}
