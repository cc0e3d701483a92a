import { useState } from 'preact/hooks'
import { type FieldErrors, readApiKey } from '../credentials.ts'
import { CredentialForm } from './credential-form.tsx'
import { Field, useAction } from './parts.tsx'
import type { SlotFormProps } from './slot-form-props.ts'

export function ApiKey({ session, flow }: SlotFormProps) {
  const { provider, display } = session
  const label = provider.keyLabel ?? 'API key'
  const [key, setKey] = useState('')
  const [account, setAccount] = useState('')
  const [errors, setErrors] = useState<FieldErrors<{ key: string }>>({})
  const action = useAction()
  const submit = () => {
    const read = readApiKey(key, label)
    setErrors('errors' in read ? read.errors : {})
    if ('value' in read) action.run(() => flow.submit('api_key', read.value, account.trim()))
  }
  return (
    <CredentialForm errors={errors} action={action} flow={flow} onSubmit={submit}>
      <Field
        label={label}
        value={key}
        onValue={setKey}
        error={errors.key}
        isSecret
        hint={
          provider.helpUrl ? (
            <a href={provider.helpUrl} target="_blank" rel="noopener noreferrer">
              Where do I find it? (opens {provider.displayName})
            </a>
          ) : undefined
        }
      />
      <Field
        label="Name for this account (optional)"
        value={account}
        onValue={(value) => setAccount(value.slice(0, 200))}
        hint={`Helps you and ${display.name} to tell your accounts apart, for example “Work”.`}
      />
    </CredentialForm>
  )
}
