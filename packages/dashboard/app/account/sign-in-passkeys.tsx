import { useQuery } from '@tanstack/react-query'
import { lazy } from 'react'
import { api } from '../api.ts'
import { timeColumn } from '../ui/relative-time.tsx'
import { PasskeyList } from './passkey-list.tsx'
import { signInPasskeysQuery } from './queries.ts'

// Loaded when it first opens, because its code for passkeys is larger than the rest of the page.
const AddSignInPasskey = lazy(async () => ({ default: (await import('./add-passkey.tsx')).AddSignInPasskey }))

export function SignInPasskeys() {
  return (
    <PasskeyList
      title="Passkeys to sign in"
      description="A passkey signs you in without a mail, and counts as a second factor."
      query={useQuery(signInPasskeysQuery)}
      none="No passkey yet. A passkey of the keyring can also sign you in."
      time={timeColumn('Last used', 'lastUsedAt', 150)}
      remove={(signInPasskeyId) => api.signInPasskeys.delete({ params: { signInPasskeyId } })}
      removing="no longer signs you in. If it also unlocks your keyring, it still does: you find it under Keyring."
      adding={(onClose) => <AddSignInPasskey onClose={onClose} />}
    />
  )
}
