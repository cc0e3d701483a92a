import { Button, Checkbox, Group, Stack } from '@mantine/core'
import { useRouteContext } from '@tanstack/react-router'
import { useRef, useState } from 'react'
import { api } from '../api.ts'
import { noteMade } from '../envs/meanings.ts'
import { NameAndSlug } from '../form/name-and-slug.tsx'
import { useApiForm, useSubmit } from '../form/use-api-form.ts'
import { keyring } from '../keyring.ts'
import { acceptedRecoveryKey } from '../recovery/covering.ts'
import { appsQuery } from '../secrets/queries.ts'
import { EnvName } from '../ui/env-name.tsx'
import { Form } from '../ui/form.tsx'
import { ProblemAlert } from '../ui/problem.tsx'

/** The environments that most applications begin with. */
const usual = ['Production', 'Staging', 'Development']

/**
 * Creates the first application with its environments. Their keys are made in this browser. `onCreating` learns when it begins,
 * and when all environments exist. The caller must keep this mounted meanwhile, also after a failure.
 */
export function NewApplication({ onCreating }: { onCreating: (isCreating: boolean) => void }) {
  const { org } = useRouteContext({ from: '/_app/orgs/$org' })
  const form = useApiForm('apps', 'create', { name: '', slug: '' })
  const [chosen, setChosen] = useState(usual)
  // After a failure, the next attempt goes on with the application that exists.
  const made = useRef<Made>({ appId: null, environments: [] })
  const createAll = (body: { name: string; slug: string }) => {
    onCreating(true)
    return createApplication(org.id, body, chosen, made.current)
  }
  const create = useSubmit(form, createAll, { stale: [appsQuery(org.id)], done: () => onCreating(false) })
  return (
    <Form onSubmit={() => create.run()}>
      <Stack maw={420}>
        <NameAndSlug form={form} placeholder="Web shop" />
        <Checkbox.Group label="Environments" value={chosen} onChange={setChosen}>
          <Group gap="lg" mt={4}>
            {usual.map((name) => (
              <Checkbox key={name} value={name} label={<EnvName name={name} slug={name.toLowerCase()} />} />
            ))}
          </Group>
        </Checkbox.Group>
        <ProblemAlert error={create.error} />
        <Group>
          <Button type="submit" loading={create.pending} disabled={chosen.length === 0}>
            Create
          </Button>
        </Group>
      </Stack>
    </Form>
  )
}

interface Made {
  appId: string | null
  environments: string[]
}

async function createApplication(
  orgId: string,
  body: { name: string; slug: string },
  environments: string[],
  made: Made,
): Promise<void> {
  await keyring.unlock()
  const recoveryPublicKeyJwk = await acceptedRecoveryKey(orgId)
  made.appId ??= (await api.apps.create({ params: { orgId }, body })).app.id
  for (const name of usual.filter((one) => environments.includes(one) && !made.environments.includes(one))) {
    const key = await keyring.call('newEnvironmentKey', { recoveryPublicKeyJwk })
    const { environment } = await api.apps.createEnv(
      { params: { orgId, appId: made.appId }, body: { name, slug: name.toLowerCase(), ...key } },
      { typed: { owner: body.slug } },
    )
    noteMade(orgId, body.name, environment)
    made.environments.push(name)
  }
}
