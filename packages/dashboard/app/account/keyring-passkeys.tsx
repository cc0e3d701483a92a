import { useQuery } from '@tanstack/react-query'
import { lazy } from 'react'
import { api } from '../api.ts'
import { passkeysQuery } from '../queries.ts'
import { timeColumn } from '../ui/relative-time.tsx'
import type { Person } from './add-passkey.tsx'
import { PasskeyList } from './passkey-list.tsx'

// Loaded when it first opens, because its code for passkeys is larger than the rest of the page.
const AddKeyringPasskey = lazy(async () => ({ default: (await import('./add-passkey.tsx')).AddKeyringPasskey }))

/** The passkeys that unlock the keyring with their PRF, so that the passphrase is seldom needed. */
export function KeyringPasskeys(person: Person) {
  return (
    <PasskeyList
      title="Passkeys"
      description="A passkey of this device, a phone or a security key unlocks the keyring with a touch."
      query={useQuery(passkeysQuery)}
      none="No passkey yet. A passkey also opens the keyring if you forget the passphrase."
      time={timeColumn('Added', 'createdAt', 150)}
      remove={(passkeyId) => api.passkeys.delete({ params: { passkeyId } })}
      removing="no longer unlocks your keyring. If it also signs you in, it still does: you find it under Signing in."
      adding={(onClose) => <AddKeyringPasskey person={person} onClose={onClose} />}
    />
  )
}
