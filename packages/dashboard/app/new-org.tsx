import { useNavigate } from '@tanstack/react-router'
import { api } from './api.ts'
import { NameAndSlug } from './form/name-and-slug.tsx'
import { useApiForm } from './form/use-api-form.ts'
import { useReloadMe } from './reload-me.ts'
import { beginStart } from './start/use-start.ts'
import { FormDialog } from './ui/form-dialog.tsx'

export function NewOrgDialog({ onClose }: { onClose: () => void }) {
  const form = useApiForm('orgs', 'create', { name: '', slug: '' })
  const navigate = useNavigate()
  const reloadMe = useReloadMe()
  const create = async (body: { name: string; slug: string }) => {
    const { org } = await api.orgs.create({ body })
    await reloadMe()
    beginStart(org.id)
    await navigate({ to: '/orgs/$org/start', params: { org: org.slug } })
  }
  return (
    <FormDialog title="New organization" submit="Create" form={form} onClose={onClose} onSubmit={create}>
      <NameAndSlug form={form} />
    </FormDialog>
  )
}
