import { UnstyledButton } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { keyring, useMinutesLeft, useUnlocked } from '../keyring.ts'
import { unlockPrompt } from '../prompts.ts'
import { meQuery } from '../queries.ts'
import { IconLock, IconLockOpen } from '../ui/icons.ts'

const noop = () => {}

/** Whether the keyring is open, and for how long. A click locks or unlocks it. Without a keyring, it leads to making one. */
export function KeyringState() {
  const unlocked = useUnlocked()
  const minutes = useMinutesLeft()
  const user = useQuery(meQuery).data?.user
  if (!unlocked && user?.publicKeyJwk === null)
    return (
      <Link to="/account/keyring" className="side-button" title="Make your keyring">
        <IconLock size={16} aria-hidden />
        <span className="side-label">No keyring yet</span>
        <span className="unseen">Make your keyring</span>
      </Link>
    )
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
