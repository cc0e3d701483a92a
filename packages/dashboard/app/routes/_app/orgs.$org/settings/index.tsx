import { Button, Group, Paper, Stack, Text, TextInput } from '@mantine/core'
import { createFileRoute } from '@tanstack/react-router'
import { api } from '../../../../api.ts'
import { useApiForm, useSubmit } from '../../../../form/use-api-form.ts'
import { useReloadMe } from '../../../../reload-me.ts'
import { SettingsPage } from '../../../../settings/settings-page.tsx'
import { CommandLine } from '../../../../ui/command-line.tsx'
import { Copy } from '../../../../ui/copy.tsx'
import { Form } from '../../../../ui/form.tsx'
import { Section } from '../../../../ui/page.tsx'
import { ProblemAlert } from '../../../../ui/problem.tsx'

export const Route = createFileRoute('/_app/orgs/$org/settings/')({ component: General })

function General() {
  const { org } = Route.useRouteContext()
  return (
    <SettingsPage part="General">
      <Name key={org.id} />
    </SettingsPage>
  )
}

function Name() {
  const { org } = Route.useRouteContext()
  const reloadMe = useReloadMe()
  const form = useApiForm('orgs', 'update', { name: org.name })
  const rename = useSubmit(form, async (body) => {
    await api.orgs.update({ params: { orgId: org.id }, body })
    form.resetDirty()
    await reloadMe()
  })
  return (
    <Section title="Name">
      <Paper>
        <Form onSubmit={() => rename.run()}>
          <Stack>
            <Group align="flex-start" wrap="nowrap">
              <TextInput label="Name of the organization" flex={1} autoComplete="off" {...form.getInputProps('name')} />
              <Button type="submit" mt={20} loading={rename.pending} disabled={!form.isDirty()}>
                Rename
              </Button>
            </Group>
            <ProblemAlert error={rename.error} />
            <Group gap={4}>
              <Text size="sm" c="dimmed">
                The slug stays <span className="mono">{org.slug}</span>; the id is{' '}
                <span className="mono">{org.id}</span>
              </Text>
              <Copy text={org.id} label="Copy the id" />
            </Group>
            <CommandLine command={`skerry org rename "New name" --org ${org.slug}`} />
          </Stack>
        </Form>
      </Paper>
    </Section>
  )
}
