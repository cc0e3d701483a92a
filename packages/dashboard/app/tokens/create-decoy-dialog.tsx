import { TextInput } from '@mantine/core'
import { useRouteContext } from '@tanstack/react-router'
import { useState } from 'react'
import { api } from '../api.ts'
import { keyring } from '../keyring.ts'
import { outdated } from '../queries.ts'
import { FormDialog } from '../ui/form-dialog.tsx'
import { type Format, FormatField } from './format-field.tsx'
import { honeyTokensQuery } from './queries.ts'

export function CreateDecoyDialog({ onClose, onMade }: { onClose: () => void; onMade: (token: string) => void }) {
  const { org } = useRouteContext({ from: '/_app/orgs/$org' })
  const [placement, setPlacement] = useState('')
  const [format, setFormat] = useState<Format>('skerry')
  const create = async () => {
    const { token, tokenId, tokenHash } = await keyring.callLocked('newToken', { format })
    const where = placement.trim() === '' ? {} : { placement: placement.trim() }
    await api.honeyTokens.create({ params: { orgId: org.id }, body: { tokenId, tokenHash, ...where } })
    onMade(token)
    await outdated(honeyTokensQuery(org.id))
  }
  return (
    <FormDialog title="New honey token" submit="Create" opened onClose={onClose} onSubmit={create}>
      <TextInput
        label="Where it will lie"
        description="For whoever is told that it was tried. The server can read this."
        placeholder=".env of the old build server"
        value={placement}
        maxLength={2000}
        onChange={(event) => setPlacement(event.currentTarget.value)}
        autoComplete="off"
        data-autofocus
      />
      <FormatField format={format} onChange={setFormat} />
    </FormDialog>
  )
}
