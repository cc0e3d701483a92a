import { Anchor, Button, Stack, Text, TextInput } from '@mantine/core'
import type { Body } from '@skerry/contract/endpoint'
import type { secondFactor } from '@skerry/contract/second-factor/endpoints'
import { useState } from 'react'
import { useAction } from './action.ts'
import { assertPasskey } from './passkeys.ts'
import { Form } from './ui/form.tsx'
import { IconFingerprint } from './ui/icons.ts'
import { ProblemAlert } from './ui/problem.tsx'
import { SixDigits } from './ui/six-digits.tsx'

export type Factor = Body<typeof secondFactor.stepUp>

interface Enter {
  enter: (factor: Factor) => Promise<unknown>
}

interface Props extends Enter {
  /** Whether the person has an authenticator app. `passkeys` says the same for passkeys. */
  totp: boolean
  passkeys: boolean
  askForChallenge: () => Promise<Parameters<typeof assertPasskey>[0]>
}

/** Asks for a second factor: a passkey, six digits of an authenticator app, or a recovery code. */
export function FactorForms({ totp, passkeys, askForChallenge, enter }: Props) {
  const [recovering, setRecovering] = useState(false)
  const passkey = useAction(async () => {
    const challenge = await askForChallenge()
    await enter({ passkey: { challengeId: challenge.challengeId, response: await assertPasskey(challenge) } })
  })
  return (
    <>
      {passkeys && (
        <Button leftSection={<IconFingerprint size={18} />} loading={passkey.pending} onClick={() => passkey.run()}>
          Use a passkey
        </Button>
      )}
      <ProblemAlert error={passkey.error} />
      {totp && (recovering ? <RecoveryCode enter={enter} /> : <Code enter={enter} />)}
      {totp && (
        <Anchor component="button" type="button" size="sm" onClick={() => setRecovering(!recovering)}>
          {recovering ? 'Use the authenticator app' : 'Use a recovery code'}
        </Anchor>
      )}
    </>
  )
}

function Code({ enter }: Enter) {
  const action = useAction((code: string) => enter({ code }))
  return (
    <Stack gap="xs">
      <Text size="sm" fw={500}>
        Six digits from your authenticator app
      </Text>
      <SixDigits label="Six digits from your authenticator app" onComplete={action.run} />
      <ProblemAlert
        error={action.error}
        onForbidden="This code is wrong or was used before. Enter the next one. If that is wrong too, correct the clock of your phone."
      />
    </Stack>
  )
}

function RecoveryCode({ enter }: Enter) {
  const [recoveryCode, setRecoveryCode] = useState('')
  const action = useAction(() => enter({ recoveryCode: recoveryCode.trim().toUpperCase() }))
  return (
    <Form onSubmit={() => action.run()}>
      <Stack gap="xs">
        <TextInput
          label="Recovery code"
          placeholder="4XK7P-M2QRA"
          value={recoveryCode}
          onChange={(event) => setRecoveryCode(event.currentTarget.value)}
          autoComplete="off"
          autoFocus
        />
        <ProblemAlert error={action.error} onForbidden="Check every character, or use another of your codes." />
        <Button type="submit" loading={action.pending}>
          Continue
        </Button>
      </Stack>
    </Form>
  )
}
