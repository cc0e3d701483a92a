import { Select } from '@mantine/core'
import { vendorName } from '@skerry/contract/vendors'
import { useQuery } from '@tanstack/react-query'
import { useRouteContext } from '@tanstack/react-router'
import { use, useRef, useState } from 'react'
import { useReaderKey } from '../envs/reader-key.tsx'
import { ConfigFields } from '../form/config-input.tsx'
import { type ConfigValues, readConfig } from '../form/use-config-form.ts'
import { EnvironmentField } from '../people/environment-field.tsx'
import { isFresh } from '../queries.ts'
import { Empty } from '../ui/empty.tsx'
import { FormDialog } from '../ui/form-dialog.tsx'
import { Loaded } from '../ui/loaded.tsx'
import { bindEnvironment } from './bind.ts'
import { BindingEditor } from './binding-editor.tsx'
import { ConnectionReads } from './connection-reads.tsx'
import { type Binding, type Connection, connectionsQuery } from './queries.ts'
import { type Provider, syncSchemas } from './schemas.ts'
import { useDestinationForm } from './use-destination-form.ts'

/**
 * Binds an environment: first the environment and its destination, then what a push would do. `of` is the connection,
 * if it is already chosen.
 */
export function NewBindingDialog({ of, onClose }: { of: string | undefined; onClose: () => void }) {
  const { org } = useRouteContext({ from: '/_app/orgs/$org' })
  const query = useQuery({ ...connectionsQuery(org.id), staleTime: 0 })
  const [binding, setBinding] = useState<Binding | null>(null)
  const [connectionId, setConnectionId] = useState(of ?? null)
  if (binding) return <BindingEditor binding={binding} isNew onClose={onClose} />
  return (
    <Loaded query={query}>
      {(connections) => {
        const [first] = connections
        const chosen = connections.find(({ id }) => id === connectionId) ?? first
        if (!chosen) return <NoConnection onClose={onClose} />
        return (
          <BindDialog
            key={chosen.id}
            {...{ connections, chosen, onClose }}
            isFresh={isFresh(query)}
            onChoose={setConnectionId}
            onBound={setBinding}
          />
        )
      }}
    </Loaded>
  )
}

function NoConnection({ onClose }: { onClose: () => void }) {
  const { org } = useRouteContext({ from: '/_app/orgs/$org' })
  return (
    <FormDialog title="Bind an environment" submit="Close" onClose={onClose} onSubmit={async () => {}}>
      <Empty title="No connection yet" command={`skerry sync connect github-actions --org ${org.slug}`}>
        Connect a destination first, on the tab Connections.
      </Empty>
    </FormDialog>
  )
}

function BindDialog(props: {
  connections: Connection[]
  chosen: Connection
  isFresh: boolean
  onChoose: (connectionId: string | null) => void
  onBound: (binding: Binding) => void
  onClose: () => void
}) {
  const { connections, chosen, onChoose, onBound, onClose } = props
  const { org } = useRouteContext({ from: '/_app/orgs/$org' })
  const providers = use(syncSchemas())
  const provider = providers.get(chosen.provider) as Provider
  const [environmentId, setEnvironmentId] = useState<string | null>(null)
  const { form, rulesFor } = useDestinationForm(provider, null)
  const reader = useReaderKey({ principalId: chosen.id, publicKeyJwk: chosen.publicKeyJwk })
  const isBound = useRef(false)
  const bind = async ({ config }: ConfigValues) => {
    if (environmentId === null) return
    reader.agreed()
    const destination = { ...readConfig(rulesFor(config), config), provider: provider.tag }
    const binding = await bindEnvironment(org.id, chosen, { environmentId, destination })
    isBound.current = true
    onBound(binding)
  }
  return (
    <FormDialog
      title="Bind an environment"
      submit="See what is pushed"
      form={form}
      // After a success the next dialog replaces this one.
      onClose={() => isBound.current || onClose()}
      onSubmit={bind}
      disabled={environmentId === null || !reader.isAgreed || !props.isFresh}
      size="lg"
    >
      <Select
        label="Connection"
        data={connections.map(({ id, name, provider: tag }) => ({
          value: id,
          label: `${name} (${vendorName(tag)})`,
        }))}
        value={chosen.id}
        allowDeselect={false}
        onChange={onChoose}
      />
      <EnvironmentField value={environmentId} onChange={setEnvironmentId} kinds={['application', 'branch']} />
      <ConfigFields form={form} fields={rulesFor(form.values.config).fields} />
      <ConnectionReads reader={reader} />
    </FormDialog>
  )
}
