import { type LeaseTag, leaseFacts } from '@skerry/contract/lease-facts'
import type { ComponentProps } from 'react'
import { CredentialField, ServerReads, wrapCredential } from '../form/credential-field.tsx'
import { queryClient } from '../queries.ts'
import { brokerKeyQuery } from './queries.ts'

/** To be shown wherever an admin credential is asked for. */
export const BrokerReads = () => <ServerReads>it signs in with the credential to make and remove accounts.</ServerReads>

export const AdminSecretField = ({
  provider,
  ...field
}: { provider: LeaseTag } & Omit<ComponentProps<typeof CredentialField>, 'label' | 'description'>) => (
  <CredentialField label="Admin credential" description={leaseFacts[provider].adminSecret} {...field} />
)

/** Wraps a credential to the key that the server has just shown as that of its broker. */
export async function wrapForBroker(orgId: string, text: string): Promise<string> {
  const { publicKeyJwk } = await queryClient.fetchQuery(brokerKeyQuery(orgId))
  return wrapCredential(text, publicKeyJwk)
}
