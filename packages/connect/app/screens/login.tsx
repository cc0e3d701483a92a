import { useState } from 'preact/hooks'
import { type FieldErrors, type LoginFields, readLogin } from '../credentials.ts'
import { CredentialForm } from './credential-form.tsx'
import { Field, useAction } from './parts.tsx'
import type { SlotFormProps } from './slot-form-props.ts'
import { hostOf } from './words.ts'

const nothing: LoginFields = { username: '', password: '', totp: '' }

export function LoginForm({ session, flow }: SlotFormProps) {
  const { provider } = session
  const [fields, setFields] = useState(nothing)
  const [errors, setErrors] = useState<FieldErrors<LoginFields>>({})
  const action = useAction()
  const fieldOf = (name: keyof LoginFields) => ({
    value: fields[name],
    onValue: (value: string) => setFields({ ...fields, [name]: value }),
    error: errors[name],
  })
  const submit = () => {
    const read = readLogin(fields)
    setErrors('errors' in read ? read.errors : {})
    if ('value' in read) action.run(() => flow.submit('login', JSON.stringify(read.value)))
  }
  return (
    <CredentialForm errors={errors} action={action} flow={flow} onSubmit={submit}>
      <p>
        Enter what you sign in with at{' '}
        <strong>{provider.loginUrl ? hostOf(provider.loginUrl) : provider.displayName}</strong>.
      </p>
      <Field label="User name or e-mail" {...fieldOf('username')} />
      <Field label="Password" {...fieldOf('password')} isSecret />
      <details open={errors.totp !== undefined}>
        <summary>I also enter a code from an app</summary>
        <Field
          label="Setup key of the app (optional)"
          {...fieldOf('totp')}
          isSecret
          hint={`${provider.displayName} shows it beside the QR code when you set up the app. The six digits themselves do not help: they change.`}
        />
      </details>
    </CredentialForm>
  )
}
