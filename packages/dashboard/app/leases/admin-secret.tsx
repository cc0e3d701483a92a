import { type LeaseTag, leaseFacts } from '@skerry/contract/leases/facts'
import type { ComponentProps } from 'react'
import { CredentialField } from '../form/credential-field.tsx'

export const AdminSecretField = ({
  provider,
  ...field
}: { provider: LeaseTag } & Omit<ComponentProps<typeof CredentialField>, 'label' | 'description'>) => (
  <CredentialField label="Admin credential" description={leaseFacts[provider].adminSecret} {...field} />
)
