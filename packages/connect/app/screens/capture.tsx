import type { VaultSlot } from '@skerry/contract/vault/facts'
import type { ComponentType } from 'preact'
import { useState } from 'preact/hooks'
import type { Notice } from '../flow.ts'
import { noticeText } from './agree.tsx'
import { ApiKey } from './api-key.tsx'
import { LiveView } from './live-view.tsx'
import { LoginForm } from './login.tsx'
import { OAuth } from './oauth.tsx'
import { Heading, Told } from './parts.tsx'
import type { SlotFormProps } from './slot-form-props.ts'

interface SlotForm {
  Form: ComponentType<SlotFormProps>
  title: (provider: string) => string
  /** The text of the button that switches to this form, if there are several. */
  instead: string
}

/** The form for each slot. */
const slotForms: Record<VaultSlot, SlotForm> = {
  api_key: { Form: ApiKey, title: (name) => `Enter your ${name} key`, instead: 'Enter a key instead' },
  login: { Form: LoginForm, title: (name) => `Sign in to ${name}`, instead: 'Enter user name and password instead' },
  oauth2: { Form: OAuth, title: (name) => `Continue at ${name}`, instead: 'Continue at the other page instead' },
  session: {
    Form: LiveView,
    title: (name) => `Sign in to ${name} yourself`,
    instead: 'Sign in on the site itself instead',
  },
}

export function CaptureScreen({ session, notice, flow }: SlotFormProps & { notice: Notice | null }) {
  const slots = session.provider.slots
  const [chosen, choose] = useState<VaultSlot>(slots[0] ?? 'api_key')
  const { Form, title } = slotForms[chosen]
  return (
    <>
      <Heading>{title(session.provider.displayName)}</Heading>
      <Told text={noticeText(notice)} kind="notice" />
      <Form session={session} flow={flow} />
      {slots
        .filter((slot) => slot !== chosen)
        .map((slot) => (
          <button key={slot} type="button" class="plain" onClick={() => choose(slot)}>
            {slotForms[slot].instead}
          </button>
        ))}
    </>
  )
}
