import type { SyncTag } from '@skerry/contract/sync/providers'
import { syncVendors } from '@skerry/contract/vendors'
import { useQuery } from '@tanstack/react-query'
import { useNavigate, useRouteContext } from '@tanstack/react-router'
import { use, useRef, useState } from 'react'
import { api } from '../api.ts'
import { checkKeys, remember } from '../envs/pins.ts'
import { ConfigFields } from '../form/config-input.tsx'
import { CredentialField, ServerReads, wrapCredential } from '../form/credential-field.tsx'
import { NameField } from '../form/name-field.tsx'
import { type ConfigValues, readConfig, useConfigForm } from '../form/use-config-form.ts'
import { keyring, usePlaintext } from '../keyring.ts'
import { isFresh } from '../queries.ts'
import { FormDialog } from '../ui/form-dialog.tsx'
import { ProblemAlert } from '../ui/problem.tsx'
import { showToast } from '../ui/toast.ts'
import { ProviderGallery } from './gallery.tsx'
import { staleAfterSync } from './queries.ts'
import { type Provider, syncSchemas } from './schemas.ts'

/** Connects a destination: first its kind, then its settings and credential. */
export function NewConnectionDialog({ onClose }: { onClose: () => void }) {
  const providers = use(syncSchemas())
  const [tag, setTag] = useState<SyncTag | null>(null)
  const provider = tag === null ? undefined : providers.get(tag)
  if (!provider) return <ProviderGallery onChoose={setTag} onClose={onClose} />
  return <ConnectDialog provider={provider} onClose={onClose} />
}

/** Loads the public key of a new connection. The ID is chosen before the connection exists. */
const newKeyQuery = (orgId: string) => ({
  queryKey: ['orgs', orgId, 'sync', 'new-key'],
  queryFn: async () => {
    const connectionId = await keyring.callLocked('newConnectionId', undefined)
    const { publicKeyJwk } = await api.sync.publicKey({ params: { orgId, connectionId } })
    return { connectionId, publicKeyJwk }
  },
  // Each connection has its own key.
  ...{ gcTime: 0, staleTime: Number.POSITIVE_INFINITY },
})

function ConnectDialog({ provider, onClose }: { provider: Provider; onClose: () => void }) {
  const { org } = useRouteContext({ from: '/_app/orgs/$org' })
  const navigate = useNavigate()
  const key = useQuery(newKeyQuery(org.id))
  const [name, setName] = useState<string>(syncVendors[provider.tag].slug)
  const [credential, setCredential, wasCleared] = usePlaintext('')
  const made = useRef<string | null>(null)
  const form = useConfigForm(provider.config.fields, () => provider.config, {})
  const connect = async ({ config }: ConfigValues) => {
    if (!key.data) return
    const { connectionId: id, publicKeyJwk } = key.data
    const wrappedCredential = await wrapCredential(credential, publicKeyJwk)
    const settings = { ...readConfig(provider.config, config), provider: provider.tag }
    const body = { id, name: name.trim(), config: settings, wrappedCredential }
    await api.sync.createConnection({ params: { orgId: org.id }, body })
    const [checked] = await checkKeys([{ principalId: id, publicKeyJwk }])
    if (checked) remember([{ principalId: id, fingerprint: checked.fingerprint }])
    showToast(`${body.name} is connected. Bind an environment to it.`)
    made.current = id
  }
  // The next step is to bind an environment.
  const close = () => {
    if (made.current === null) return onClose()
    const search = { create: true, connection: made.current } as const
    void navigate({ to: '/orgs/$org/sync', params: { org: org.slug }, search })
  }
  return (
    <FormDialog
      title={`Connect ${syncVendors[provider.tag].name}`}
      submit="Connect"
      form={form}
      onClose={close}
      onSubmit={connect}
      stale={staleAfterSync(org.id)}
      disabled={name.trim() === '' || credential.trim() === '' || !isFresh(key)}
      size="lg"
    >
      <ProblemAlert error={key.error} retry={() => key.refetch()} />
      <NameField
        description="How people find it."
        maxLength={100}
        value={name}
        onChange={(event) => setName(event.currentTarget.value)}
      />
      <ServerReads>it writes to the destination with the credential.</ServerReads>
      <CredentialField
        label="Credential"
        description={provider.credential.replaceAll('`', '')}
        value={credential}
        wasCleared={wasCleared}
        onChange={setCredential}
      />
      <ConfigFields form={form} fields={provider.config.fields} />
    </FormDialog>
  )
}
