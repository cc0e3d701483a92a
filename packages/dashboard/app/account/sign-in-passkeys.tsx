import { useQuery } from '@tanstack/react-query'
import { api } from '../api.ts'
import { makePasskey } from '../passkeys.ts'
import { timeColumn } from '../ui/relative-time.tsx'
import { AddPasskey, PasskeyList } from './passkey-list.tsx'
import { signInPasskeysQuery } from './queries.ts'

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
      adding={(onClose) => <AddPasskey title="Add a passkey to sign in" onClose={onClose} add={enroll} />}
    />
  )
}

async function enroll(label: string) {
  const challenge = await api.signInPasskeys.options()
  const { response } = await makePasskey(challenge)
  const { challengeId } = challenge
  await api.signInPasskeys.create({ body: { challengeId, label, response } })
}
