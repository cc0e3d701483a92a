import { UnstyledButton } from '@mantine/core'
import { keyring, useMinutesLeft, useUnlocked } from '../keyring.ts'
import { unlockPrompt } from '../prompts.ts'
import { IconLock, IconLockOpen } from '../ui/icons.ts'

const noop = () => {}

/** Whether the keyring is open, and for how long. A click locks or unlocks it. */
export function KeyringState() {
  const unlocked = useUnlocked()
  const minutes = useMinutesLeft()
  const [state, act] = unlocked ? ['Keyring open', 'Lock the keyring'] : ['Keyring locked', 'Unlock the keyring']
  return (
    <UnstyledButton
      className="side-button"
      data-unlocked={unlocked || undefined}
      title={act}
      onClick={() => (unlocked ? keyring.lock() : unlockPrompt.ask().catch(noop))}
    >
      {unlocked ? <IconLockOpen size={16} aria-hidden /> : <IconLock size={16} aria-hidden />}
      <span className="side-label">{state}</span>
      {unlocked && <span className="side-note">{minutes} min</span>}
      <span className="unseen">{act}</span>
    </UnstyledButton>
  )
}
