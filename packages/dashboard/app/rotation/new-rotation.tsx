import { Autocomplete, Checkbox, Select } from '@mantine/core'
import { type RotationKind, rotationFacts } from '@skerry/contract/rotation/facts'
import { provisionerOf } from '@skerry/sdk/internal/provisioned-leases'
import { useQuery } from '@tanstack/react-query'
import { useRouteContext } from '@tanstack/react-router'
import { use, useState } from 'react'
import { useReaderKey } from '../envs/reader-key.tsx'
import type { Texts } from '../form/config-fields.ts'
import { ConfigFields } from '../form/config-input.tsx'
import { type ConfigValues, readConfig, useConfigForm } from '../form/use-config-form.ts'
import { targetsQuery } from '../leases/queries.ts'
import { EnvironmentField } from '../people/environment-field.tsx'
import { isFresh } from '../queries.ts'
import { sealedQuery } from '../secrets/queries.ts'
import { nameProblem } from '../secrets/secret-name.ts'
import { FormDialog } from '../ui/form-dialog.tsx'
import { ProblemAlert } from '../ui/problem.tsx'
import { showErrorToast, showToast } from '../ui/toast.ts'
import { createRotation } from './create.ts'
import { IntervalField, intervalProblem, secondsOf } from './interval.tsx'
import { rotationsQuery, rotatorQuery, staleAfterRotation } from './queries.ts'
import { RotatorReads } from './rotator-reads.tsx'
import { rotationSchemas } from './schemas.ts'

const kinds = Object.entries(rotationFacts).map(([value, { label }]) => ({ value, label }))

/** Creates the rotation of a secret. `of` is the secret, if it is already chosen. */
export function NewRotationDialog(props: { of?: { environmentId: string; secretName: string }; onClose: () => void }) {
  const { of, onClose } = props
  const { org } = useRouteContext({ from: '/_app/orgs/$org' })
  const schemas = use(rotationSchemas())
  const [environmentId, setEnvironmentId] = useState<string | null>(of?.environmentId ?? null)
  const [secretName, setSecretName] = useState(of?.secretName ?? '')
  const [kind, setKind] = useState<RotationKind>('generated')
  const [targetId, setTargetId] = useState<string | null>(null)
  const [interval, setInterval] = useState({ count: '30', unit: '86400' })
  const [rotateNow, setRotateNow] = useState(false)
  const rotator = useRotator(org.id, environmentId)
  const rulesFor = (_: Texts) => schemas.rulesOf(kind, secretName)
  const form = useConfigForm(schemas.all, rulesFor, {})
  const needsTarget = rotationFacts[kind].target !== null
  const rotations = useQuery(rotationsQuery(org.id)).data
  // A secret can have only one rotation. A second one would overwrite the first.
  const isRotated = rotations?.some((one) => one.environmentId === environmentId && one.secretName === secretName)
  const problem =
    nameProblem(secretName) ??
    (isRotated ? 'This secret is rotated already. Change its rotation, or remove it first.' : null)
  const create = async ({ config }: ConfigValues) => {
    if (environmentId === null) return
    rotator.agreed()
    const settings = {
      ...{ environmentId, secretName, intervalSeconds: secondsOf(interval), rotateNow },
      config: { ...readConfig(rulesFor(config), config), kind },
      ...(needsTarget && targetId !== null ? { targetId } : {}),
    }
    const { rotation } = await createRotation(org.id, settings, rotator.wrapTo)
    if (rotation.lastError === null) showToast(`${secretName} is rotated from now on.`)
    else showErrorToast('The first run failed. Skerry tries again', rotation.lastError)
  }
  const isFilled =
    environmentId !== null && secretName !== '' && problem === null && (!needsTarget || targetId !== null)
  return (
    <FormDialog
      title={of ? `Rotate ${of.secretName}` : 'New rotation'}
      submit="Rotate"
      form={form}
      onClose={onClose}
      onSubmit={create}
      stale={staleAfterRotation(org.id, environmentId ?? '')}
      disabled={!isFilled || intervalProblem(interval) !== null || !rotator.isReady}
      size="lg"
    >
      <ProblemAlert error={rotator.query.error} retry={() => rotator.query.refetch()} />
      {!of && <EnvironmentField value={environmentId} onChange={setEnvironmentId} />}
      {!of && (
        <SecretField environmentId={environmentId} value={secretName} problem={problem} onChange={setSecretName} />
      )}
      <Select
        label="What it is"
        data={kinds}
        value={kind}
        allowDeselect={false}
        onChange={(to) => setKind(to as RotationKind)}
      />
      {needsTarget && <TargetField kind={kind} value={targetId} onChange={setTargetId} />}
      <ConfigFields key={kind} form={form} fields={rulesFor(form.values.config).fields} />
      <IntervalField value={interval} onChange={setInterval} />
      <Checkbox
        label="Rotate once right away"
        description="Running programs keep the old value until they read the secret again."
        checked={rotateNow}
        onChange={(event) => setRotateNow(event.currentTarget.checked)}
      />
      {environmentId !== null && rotator.query.isSuccess && <RotatorReads {...rotator.reads} />}
    </FormDialog>
  )
}

/** The server's rotator: whether it has the environment's key, and if not, whether the person agrees to give it. */
function useRotator(orgId: string, environmentId: string | null) {
  const query = useQuery(rotatorQuery(orgId))
  const { publicKeyJwk = null, grantedEnvironmentIds = [] } = query.data ?? {}
  const holdsKey = environmentId !== null && grantedEnvironmentIds.includes(environmentId)
  const reader = useReaderKey(publicKeyJwk === null ? null : { principalId: orgId, publicKeyJwk })
  return {
    query,
    wrapTo: holdsKey ? null : publicKeyJwk,
    isReady: isFresh(query) && (holdsKey || reader.isAgreed),
    agreed: () => holdsKey || reader.agreed(),
    reads: { holdsKey, reader },
  }
}

function SecretField(props: {
  environmentId: string | null
  value: string
  problem: string | null
  onChange: (value: string) => void
}) {
  const { environmentId, value, problem, onChange } = props
  const { org } = useRouteContext({ from: '/_app/orgs/$org' })
  const sealed = useQuery({ ...sealedQuery(org.id, environmentId ?? ''), enabled: environmentId !== null }).data
  return (
    <Autocomplete
      label="Secret"
      description="Choose a secret, or type a new name."
      classNames={{ input: 'mono' }}
      data={[...(sealed?.secrets.keys() ?? [])]}
      limit={50}
      autoComplete="off"
      spellCheck={false}
      value={value}
      error={problem}
      onChange={onChange}
    />
  )
}

function TargetField(props: { kind: RotationKind; value: string | null; onChange: (value: string | null) => void }) {
  const { kind, value, onChange } = props
  const { org } = useRouteContext({ from: '/_app/orgs/$org' })
  const query = useQuery(targetsQuery(org.id))
  // The server changes the password itself, so only targets that the server signs in to are offered.
  const targets = (query.data ?? []).filter(
    ({ provider, config }) => provider === rotationFacts[kind].target && provisionerOf(config) === null,
  )
  return (
    <>
      <ProblemAlert error={query.error} retry={() => query.refetch()} />
      <Select
        label="Lease target"
        description="Where the account is. Skerry signs in with the target’s admin credential."
        searchable
        nothingFoundMessage="No such target: register one under Leases first"
        data={targets.map(({ id, name }) => ({ value: id, label: name }))}
        value={targets.some(({ id }) => id === value) ? value : null}
        onChange={onChange}
      />
    </>
  )
}
