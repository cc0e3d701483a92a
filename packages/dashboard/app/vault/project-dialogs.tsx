import { TextInput } from '@mantine/core'
import type { Body } from '@skerry/contract/endpoint'
import type { vaultProjects } from '@skerry/contract/vault/projects'
import { useRouteContext } from '@tanstack/react-router'
import { api } from '../api.ts'
import { NameField } from '../form/name-field.tsx'
import { type ApiForm, useApiForm } from '../form/use-api-form.ts'
import { orgQueries } from '../queries.ts'
import { ConfirmDelete } from '../ui/confirm-delete.tsx'
import { FormDialog } from '../ui/form-dialog.tsx'
import { LogoField } from './logo-field.tsx'
import { OriginsField } from './origins-field.tsx'
import { Preview } from './preview.tsx'
import type { Project } from './queries.ts'

export type ProjectDialogKind = 'edit' | 'disable'

export function ProjectDialog(props: { kind: ProjectDialogKind; project: Project; onClose: () => void }) {
  const { kind, ...more } = props
  return kind === 'edit' ? <EditDialog {...more} /> : <DisableDialog {...more} />
}

export function NewProjectDialog({ onClose }: { onClose: () => void }) {
  const { org } = useRouteContext({ from: '/_app/orgs/$org' })
  const form = useApiForm('vaultProjects', 'create', valuesOf(null), prepare)
  return (
    <FormDialog
      title="New vault project"
      submit="Create"
      form={form}
      onClose={onClose}
      onSubmit={(body) => api.vaultProjects.create({ params: { orgId: org.id }, body })}
      stale={[orgQueries(org.id, 'vault')]}
      size="lg"
    >
      <ProjectFields form={form} />
    </FormDialog>
  )
}

function EditDialog({ project, onClose }: { project: Project; onClose: () => void }) {
  const { org } = useRouteContext({ from: '/_app/orgs/$org' })
  const form = useApiForm('vaultProjects', 'update', valuesOf(project), prepare)
  return (
    <FormDialog
      title={`Edit ${project.name}`}
      submit="Save"
      form={form}
      onClose={onClose}
      onSubmit={(body) => api.vaultProjects.update({ params: { orgId: org.id, projectId: project.id }, body })}
      stale={[orgQueries(org.id, 'vault')]}
      size="lg"
    >
      <ProjectFields form={form} />
    </FormDialog>
  )
}

/** The values for the endpoint. `prepare` leaves out empty ones. */
type Values = Body<typeof vaultProjects.create> & { display: { returnOrigins: string[] } }

const valuesOf = (project: Project | null): Values => ({
  name: project?.name ?? '',
  display: {
    name: project?.display.name ?? '',
    logoUrl: project?.display.logoUrl ?? '',
    accent: project?.display.accent ?? '',
    returnOrigins: project?.display.returnOrigins ?? [],
  },
})

/**
 * Leaves out empty values, so that the endpoint clears them. Without a name for people, the project's own name is used.
 */
function prepare({ name, display }: Values): Values {
  const [shownName, logoUrl, accent] = [display.name, display.logoUrl, display.accent].map((text) => text?.trim() ?? '')
  return {
    name,
    display: {
      name: shownName || name,
      ...(logoUrl && { logoUrl }),
      ...(accent && { accent }),
      returnOrigins: display.returnOrigins.map((origin) => origin.trim()).filter((origin) => origin !== ''),
    },
  }
}

function ProjectFields({ form }: { form: ApiForm<Values> }) {
  const { name, display } = form.values
  return (
    <>
      <NameField description="The name in this dashboard." placeholder="Northwind" {...form.getInputProps('name')} />
      <TextInput
        label="Name for people"
        description="The name of your product, on the page where people connect an account. If you leave this empty, they see the name above."
        placeholder={name}
        autoComplete="off"
        {...form.getInputProps('display.name')}
      />
      <TextInput
        label="Color"
        description="The color of buttons, as six hexadecimal digits."
        placeholder="#1c5fd4"
        classNames={{ input: 'mono' }}
        autoComplete="off"
        {...form.getInputProps('display.accent')}
      />
      <LogoField value={display.logoUrl ?? ''} {...form.getInputProps('display.logoUrl')} />
      <OriginsField
        value={display.returnOrigins}
        {...form.getInputProps('display.returnOrigins')}
        error={originsError(form.errors)}
      />
      <Preview display={{ ...display, name: display.name.trim() || name.trim() }} />
    </>
  )
}

/** Returns the error of the field as a whole, or of one of its lines. */
const originsError = (errors: ApiForm<Values>['errors']) =>
  Object.entries(errors).find(([path]) => path.startsWith('display.returnOrigins'))?.[1] ?? null

function DisableDialog({ project: { id, name }, onClose }: { project: Project; onClose: () => void }) {
  const { org } = useRouteContext({ from: '/_app/orgs/$org' })
  const disable = () =>
    api.vaultProjects.update({ params: { orgId: org.id, projectId: id }, body: { status: 'disabled' } })
  return (
    <ConfirmDelete
      title={`Disable ${name}?`}
      confirm="Disable"
      onClose={onClose}
      onConfirm={disable}
      stale={[orgQueries(org.id, 'vault')]}
    >
      Until it is enabled again, the executor gets no credential and nobody can connect an account. Connections are
      kept.
    </ConfirmDelete>
  )
}
