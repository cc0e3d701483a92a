import { TextInput } from '@mantine/core'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { api } from './api.ts'
import { useReloadMe } from './reload-me.ts'
import { slugOf } from './slug.ts'
import { FormDialog } from './ui/form-dialog.tsx'

export function NewOrgDialog({ opened, onClose }: { opened: boolean; onClose: () => void }) {
  const [name, setName] = useState('')
  const [slug, setSlug] = useState<string | null>(null)
  const navigate = useNavigate()
  const reloadMe = useReloadMe()
  const create = async () => {
    const { org } = await api.orgs.create({ body: { name: name.trim(), slug: slug ?? slugOf(name) } })
    await reloadMe()
    await navigate({ to: '/orgs/$org', params: { org: org.slug } })
  }
  return (
    <FormDialog title="New organization" submit="Create" opened={opened} onClose={onClose} onSubmit={create}>
      <TextInput
        label="Name"
        required
        value={name}
        onChange={(event) => setName(event.currentTarget.value)}
        data-autofocus
      />
      <TextInput
        label="Slug"
        description="In addresses and commands. It never changes."
        required
        value={slug ?? slugOf(name)}
        onChange={(event) => setSlug(event.currentTarget.value)}
      />
    </FormDialog>
  )
}
