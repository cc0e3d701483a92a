import { TextInput } from '@mantine/core'
import { useRouteContext } from '@tanstack/react-router'
import { api } from '../api.ts'
import { useApiForm } from '../form/use-api-form.ts'
import { keyring } from '../keyring.ts'
import { FormDialog } from '../ui/form-dialog.tsx'
import { type Format, FormatField } from './format-field.tsx'
import { honeyTokensQuery } from './queries.ts'

interface Decoy {
  placement: string
  format: Format
}

export function CreateDecoyDialog({ onClose, onMade }: { onClose: () => void; onMade: (token: string) => void }) {
  const { org } = useRouteContext({ from: '/_app/orgs/$org' })
  const form = useApiForm('honeyTokens', 'create', { placement: '', format: 'skerry' } as Decoy)
  const create = async ({ placement, format }: Decoy) => {
    const { token, tokenId, tokenHash } = await keyring.callLocked('newToken', { format })
    const body = { tokenId, tokenHash, ...(placement === '' ? {} : { placement }) }
    await api.honeyTokens.create({ params: { orgId: org.id }, body })
    onMade(token)
  }
  return (
    <FormDialog
      title="New decoy"
      submit="Create"
      form={form}
      onClose={onClose}
      onSubmit={create}
      stale={[honeyTokensQuery(org.id)]}
    >
      <TextInput
        label="Where you will put it"
        description="Shown to owners and admins when someone tries it. The server can read this."
        placeholder=".env of the old build server"
        autoComplete="off"
        data-autofocus
        {...form.getInputProps('placement')}
      />
      <FormatField {...form.getInputProps('format')} />
    </FormDialog>
  )
}
