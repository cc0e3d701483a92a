import { Button, Text } from '@mantine/core'
import { useState } from 'react'
import { Fingerprint } from '../envs/fingerprint.tsx'
import { checkedKeys, pin, shownNames } from '../envs/pins.ts'
import { invalidate } from '../queries.ts'
import { IconCheck, IconHourglass } from '../ui/icons.ts'
import { type Receiver, readinessOf } from './principals.ts'

/** Only these are shown at first. The words of many people are compared over several days. */
const shownMax = 12

/** Says who gets keys now, and who waits. The words of a person who waits can be compared here. */
export function Receivers({ receivers, later }: { receivers: readonly Receiver[]; later: string | null }) {
  const ready = receivers.filter((one) => readinessOf(one) === 'ready')
  const waiting = receivers.filter((one) => !['ready', 'checking'].includes(readinessOf(one)))
  return (
    <div className="receivers">
      {ready.length > 0 && (
        <div className="receivers-note" data-tone="ok">
          <IconCheck size={16} aria-hidden />
          <div>
            <strong>
              {waiting.length === 0 && ready.length > 1
                ? `All ${ready.length} are verified.`
                : `${ready.length} verified.`}
            </strong>{' '}
            Keys go to <Names names={ready.map(({ label }) => label)} />. {later}
          </div>
        </div>
      )}
      {ready.length === 0 && later !== null && waiting.length === 0 && (
        <p className="help">Nobody is in it yet. {later}</p>
      )}
      {waiting.length > 0 && <Waiting waiting={waiting} />}
    </div>
  )
}

/** A list of names, cut off if it is long. */
function Names({ names }: { names: readonly string[] }) {
  const [isOpen, setIsOpen] = useState(false)
  const shown = isOpen ? names : names.slice(0, shownMax)
  return (
    <>
      {shown.join(', ')}
      {shown.length < names.length && (
        <Button variant="subtle" size="compact-xs" onClick={() => setIsOpen(true)}>
          and {names.length - shown.length} more
        </Button>
      )}
    </>
  )
}

function Waiting({ waiting }: { waiting: readonly Receiver[] }) {
  const [isOpen, setIsOpen] = useState(false)
  const shown = isOpen ? waiting : waiting.slice(0, shownMax)
  return (
    <div className="receivers-note" data-tone="warn">
      <IconHourglass size={16} aria-hidden />
      <div>
        <strong>{waiting.length === 1 ? '1 waits' : `${waiting.length} wait`}, and get no key now.</strong>
        <ul>
          {shown.map((one) => (
            <WaitingReceiver key={one.principalId} receiver={one} />
          ))}
        </ul>
        {shown.length < waiting.length && (
          <Button variant="subtle" size="compact-xs" onClick={() => setIsOpen(true)}>
            and {waiting.length - shown.length} more
          </Button>
        )}
      </div>
    </div>
  )
}

/** A person or token that cannot get keys yet, with the reason, the words to compare and the keys that wait. */
export function WaitingReceiver({ receiver, waitsFor = [] }: { receiver: Receiver; waitsFor?: readonly string[] }) {
  const { principalId, label, checked } = receiver
  const [isOpen, setIsOpen] = useState(false)
  const [isCompared, setIsCompared] = useState(false)
  const compared = async (yes: boolean) => {
    setIsCompared(yes)
    if (!checked || !yes) return
    const names = receiver.principalType === 'user' ? { name: label } : {}
    pin(principalId, checked.fingerprint, { ...names, ...shownNames(receiver) })
    await invalidate(checkedKeys)
  }
  return (
    <li>
      <b>{label}</b>: {reasonOf(receiver)} {waitsFor.length > 0 && <span className="help">{waitsFor.join(', ')}</span>}{' '}
      {checked && (
        <Button variant="subtle" size="compact-xs" aria-expanded={isOpen} onClick={() => setIsOpen(!isOpen)}>
          Compare words
          <Text span className="unseen">
            {' '}
            of {label}
          </Text>
        </Button>
      )}
      {isOpen && checked && (
        <Fingerprint
          holder={label}
          checked={checked.status === 'verified' ? { ...checked, status: 'first' } : checked}
          compared={isCompared}
          onCompared={(yes) => void compared(yes)}
        />
      )}
    </li>
  )
}

function reasonOf(receiver: Receiver): string {
  const readiness = readinessOf(receiver)
  if (readiness === 'without_keyring') return 'has no keyring yet.'
  if (readiness === 'changed') return 'the key has changed since you compared it.'
  if (readiness === 'renamed') return `this browser knows the key as that of ${receiver.knownAs}.`
  return 'you have not compared the words.'
}
