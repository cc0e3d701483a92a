import { Checkbox, SimpleGrid, Stack, Title } from '@mantine/core'
import { useRouteContext } from '@tanstack/react-router'
import { use, useRef, useState } from 'react'
import { api } from '../api.ts'
import { ConfigFields } from '../form/config-input.tsx'
import { type ConfigValues, readConfig } from '../form/use-config-form.ts'
import { invalidate } from '../queries.ts'
import { FormDialog } from '../ui/form-dialog.tsx'
import { showErrorToast, showToast } from '../ui/toast.ts'
import { areWhole, FilterFields, type Filters, filtersOf, settingsOf } from './filters.tsx'
import { LivePlan, useLivePlan } from './live-plan.tsx'
import { type Binding, type PlanSettings, staleAfterSync } from './queries.ts'
import { type Provider, syncSchemas } from './schemas.ts'
import { useDestinationForm } from './use-destination-form.ts'

/**
 * Edits a binding, and shows beside the form what a push would do. A new binding pushes nothing until the person saves
 * it here. If the person closes the dialog before, the binding is deleted.
 */
export function BindingEditor({ binding, isNew, onClose }: { binding: Binding; isNew: boolean; onClose: () => void }) {
  const { org } = useRouteContext({ from: '/_app/orgs/$org' })
  const provider = use(syncSchemas()).get(binding.destination.provider) as Provider
  const { form, rulesFor } = useDestinationForm(provider, binding.destination)
  const [filters, setFilters] = useState<Filters>(filtersOf(binding))
  const [allowed, setAllowed] = useState<string | null>(null)
  const isSaved = useRef(false)
  const rules = rulesFor(form.values.config)
  const destination = { ...readConfig(rules, form.values.config), provider: provider.tag }
  const { planned, mode } = settingsOf(filters)
  const isWhole = areWhole(filters) && rules.broken(destination).length === 0 && rules.problem(destination) === null
  const settings: PlanSettings | null = isWhole ? { ...planned, destination } : null
  const plan = useLivePlan(binding.id, settings)
  const names = plan.deletes.join(', ')
  const params = { orgId: org.id, bindingId: binding.id }
  const save = async (_: ConfigValues) => {
    const enabled = isNew ? { enabled: true } : {}
    await api.sync.updateBinding({ params, body: { ...planned, destination, mode, ...enabled } })
    isSaved.current = true
    if (isNew)
      showToast(mode === 'auto' ? 'The first push has begun.' : 'The environment is bound. You can push it now.')
  }
  const close = () => {
    if (isNew && !isSaved.current) void undo()
    onClose()
  }
  const undo = async () => {
    try {
      await api.sync.deleteBinding({ params }, { typed: { connectionId: binding.connectionId } })
      await invalidate(...staleAfterSync(org.id, [binding.environmentId]))
      showToast('Nothing was pushed, and the binding is deleted again.')
    } catch (error) {
      showErrorToast('The binding could not be deleted again', (error as Error).message)
    }
  }
  return (
    <FormDialog
      title={isNew ? 'Look at what will be pushed' : 'Edit the binding'}
      submit={isNew ? 'Start pushing' : 'Save'}
      form={form}
      onClose={close}
      onSubmit={save}
      stale={staleAfterSync(org.id)}
      disabled={!isWhole || (isNew && !plan.query.isSuccess) || (names !== '' && allowed !== names)}
      size="62rem"
    >
      <SimpleGrid cols={{ base: 1, md: 2 }} spacing="lg">
        <Stack>
          <Title order={3} size="h5">
            Where to
          </Title>
          <ConfigFields form={form} fields={rules.fields} />
          <Title order={3} size="h5">
            What
          </Title>
          <FilterFields
            environmentId={binding.environmentId}
            value={filters}
            onChange={(change) => setFilters((was) => ({ ...was, ...change }))}
          />
        </Stack>
        <Stack>
          <LivePlan plan={plan} />
          {names !== '' && (
            <Checkbox
              label={`Delete ${names} there with the next push`}
              checked={allowed === names}
              onChange={(event) => setAllowed(event.currentTarget.checked ? names : null)}
            />
          )}
        </Stack>
      </SimpleGrid>
    </FormDialog>
  )
}
