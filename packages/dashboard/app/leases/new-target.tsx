import { Select } from '@mantine/core'
import type { LeaseTag } from '@skerry/contract/leases/facts'
import { leaseVendors } from '@skerry/contract/vendors'
import { useRouteContext } from '@tanstack/react-router'
import { use, useState } from 'react'
import { api } from '../api.ts'
import { type Texts, textAt } from '../form/config-fields.ts'
import { ConfigFields } from '../form/config-input.tsx'
import { NameField } from '../form/name-field.tsx'
import { type ConfigValues, readConfig, useConfigForm, withTexts } from '../form/use-config-form.ts'
import { usePlaintext } from '../keyring.ts'
import { orgQueries } from '../queries.ts'
import { FormDialog } from '../ui/form-dialog.tsx'
import { showToast } from '../ui/toast.ts'
import { AdminSecretField } from './admin-secret.tsx'
import { noteTarget } from './known-targets.ts'
import { isProvisionable, ReaderField, ReaderNotice, useReader } from './reader.tsx'
import { targetSchemas } from './schemas.ts'
import { signedInTo } from './signed-in-to.ts'

const providers = Object.entries(leaseVendors).map(([value, { name }]) => ({ value, label: name }))

/** The initial values for each provider, which suit most targets. */
const starts: Partial<Record<LeaseTag, Record<string, string>>> = {
  postgres: { 'connection.port': '5432', accessLevel: 'readonly', schema: 'public' },
  mysql: { 'connection.port': '3306', accessLevel: 'readonly', userHost: '%' },
  redis: { 'connection.port': '6379', accessLevel: 'readonly' },
  mongodb: { 'connection.port': '27017', accessLevel: 'readonly' },
}

/**
 * Registers a target. The server first signs in to it, and stores nothing if that fails. A provisioner signs in later.
 */
export function NewTargetDialog({ onClose }: { onClose: () => void }) {
  const { org } = useRouteContext({ from: '/_app/orgs/$org' })
  const { rules, all } = use(targetSchemas())
  const [tokenId, setTokenId] = useState<string | null>(null)
  const [provider, setProvider] = useState<LeaseTag>('postgres')
  const [name, setName] = useState('')
  const [secret, setSecret, wasCleared] = usePlaintext('')
  const reader = useReader(org.id, isProvisionable(provider) ? tokenId : null)
  const rulesFor = (texts: Texts) => {
    const isCustom = textAt(texts, 'accessLevel') === 'custom'
    const fields = rules[provider].fields.filter(({ path }) => isCustom || !customFields.includes(path))
    const { fixed } = rules[provider]
    const by: Record<string, string> =
      reader.tokenId === null ? {} : { executor: 'provisioner', provisionerTokenId: reader.tokenId }
    return { ...rules[provider], fields, fixed: { ...fixed, ...by } }
  }
  const form = useConfigForm(all, rulesFor, starts.postgres ?? {})
  const choose = (to: string | null) => {
    const chosen = to as LeaseTag
    setProvider(chosen)
    form.clearErrors()
    form.setValues(({ config = {} }) => ({
      config: withTexts(config, { ...untouched(config, starts[provider]), ...starts[chosen] }),
    }))
  }
  const fillIn = () => {
    const { config } = form.getValues()
    const told = Object.entries(addressIn(secret)).filter(
      ([path]) => path === 'connection.port' || textAt(config, path) === '',
    )
    form.setValues({ config: withTexts(config, Object.fromEntries(told)) })
  }
  const register = async ({ config }: ConfigValues) => {
    const settings = { ...readConfig(rulesFor(config), config), provider }
    const wrappedAdminSecret = await reader.wrap(secret, settings)
    const named = name.trim() === '' ? {} : { name: name.trim() }
    const body = { ...named, config: settings, wrappedAdminSecret }
    const { target } = await api.leases.createTarget({ params: { orgId: org.id }, body })
    noteTarget(org.id, { id: target.id, name: target.name, provider, config: settings })
    showToast(signedInTo(target))
  }
  return (
    <FormDialog
      title="New lease target"
      submit="Register"
      form={form}
      onClose={onClose}
      onSubmit={register}
      stale={[orgQueries(org.id, 'leases')]}
      disabled={secret.trim() === '' || !reader.isReady}
      size="lg"
    >
      <Select label="What it is" data={providers} value={provider} allowDeselect={false} onChange={choose} />
      <NameField
        description="Optional. A name is generated if you leave this empty."
        placeholder="shop"
        maxLength={64}
        value={name}
        onChange={(event) => setName(event.currentTarget.value)}
      />
      {isProvisionable(provider) && <ReaderField reader={reader} onChange={setTokenId} />}
      <ReaderNotice reader={reader} />
      <AdminSecretField
        provider={provider}
        value={secret}
        wasCleared={wasCleared}
        onChange={setSecret}
        onBlur={fillIn}
      />
      <ConfigFields form={form} fields={rulesFor(form.values.config).fields} />
    </FormDialog>
  )
}

/**
 * Returns an empty text for each initial value that nobody has changed. Such a value must not stay when another
 * provider is chosen.
 */
const untouched = (texts: Texts, started: Record<string, string> = {}): Record<string, string> =>
  Object.fromEntries(
    Object.entries(started)
      .filter(([path, text]) => textAt(texts, path) === text)
      .map(([path]) => [path, '']),
  )

/** Fields that only the access level `custom` has. */
const customFields = ['createStatements', 'revokeStatements', 'rules', 'roles']

/** Returns the address in a connection string as fields of a target, without user and password. */
function addressIn(secret: string): Record<string, string> {
  if (!/^\w+:\/\//.test(secret.trim()) || !URL.canParse(secret.trim())) return {}
  const { hostname, port, pathname } = new URL(secret.trim())
  const database = decodeURIComponent(pathname.slice(1))
  return {
    'connection.host': hostname.replace(/^\[|\]$/g, ''),
    ...(port === '' ? {} : { 'connection.port': port }),
    // In a Redis URL this is a number, which the config calls `db`.
    ...(database === '' ? {} : { 'connection.database': database, 'connection.db': database }),
  }
}
