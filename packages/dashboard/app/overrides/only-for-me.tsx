import { Button, Group, Stack, Text, Textarea } from '@mantine/core'
import { useRouteContext } from '@tanstack/react-router'
import { useState } from 'react'
import { useAction } from '../action.ts'
import { clearedMessage, keyring, usePlaintext, useUnlocked } from '../keyring.ts'
import { invalidate } from '../queries.ts'
import type { Column } from '../secrets/columns.ts'
import { isConflict } from '../secrets/write.ts'
import { Form } from '../ui/form.tsx'
import { Section } from '../ui/page.tsx'
import { ProblemAlert } from '../ui/problem.tsx'
import { RelativeTime } from '../ui/relative-time.tsx'
import { Reveal } from '../ui/reveal.tsx'
import { showToast } from '../ui/toast.ts'
import { type OwnOverride, useOwnOverrides } from './own-overrides.tsx'
import { type OverrideRow, overridesQuery } from './queries.ts'
import { removeOverride, storeOverride } from './store.ts'

interface Props {
  column: Column
  name: string
}

/** The value that the person has stored for themselves. `skerry run` gives it to their programs alone. */
export function OnlyForMe({ column, name }: Props) {
  const overrides = useOwnOverrides(column.environmentId)
  const unlocked = useUnlocked()
  const [isEditing, setIsEditing] = useState(false)
  if (!overrides) return null
  const { rows, byName } = overrides
  const own = byName.get(name)
  return (
    <Section
      title="Only for me"
      description={`Your own value in ${column.name}. skerry run uses it when you start a program. Nobody else can read it.`}
      actions={
        unlocked &&
        rows &&
        !isEditing && (
          <Button variant="default" onClick={() => setIsEditing(true)}>
            {own ? 'Replace mine' : 'Set mine'}
          </Button>
        )
      }
    >
      {isEditing && rows ? (
        <OwnForm {...{ column, name, own, rows }} onClose={() => setIsEditing(false)} />
      ) : own ? (
        <Stored {...{ column, name, own }} />
      ) : (
        <Text c="dimmed">
          {unlocked
            ? 'You have no value of your own, so you get the shared value.'
            : 'Unlock the keyring to see whether you have a value of your own.'}
        </Text>
      )}
    </Section>
  )
}

function usePlace({ environmentId }: Column) {
  const { org, me } = useRouteContext({ from: '/_app/orgs/$org' })
  return { orgId: org.id, environmentId, userId: me.user?.id ?? '' }
}

function Stored({ column, name, own }: Props & { own: OwnOverride }) {
  const place = usePlace(column)
  const { wrappedKey, ciphertext, updatedAt } = own.row
  const remove = useAction(() => removeOverride(place, own), {
    stale: [overridesQuery(place.orgId, place.environmentId)],
    done: () => showToast(`You get the shared value of ${name} again.`),
  })
  const open = () => keyring.call('openOverride', { place, sealed: { wrappedKey, ciphertext } })
  return (
    <>
      <Reveal key={ciphertext} name={`my value of ${name}`} open={open} />
      <Group justify="space-between" mt="xs">
        <Text size="sm" c="dimmed">
          Changed <RelativeTime at={updatedAt} />
        </Text>
        <Button variant="subtle" color="red" loading={remove.pending} onClick={() => remove.run()}>
          Remove mine
        </Button>
      </Group>
      <ProblemAlert error={remove.error} />
    </>
  )
}

interface FormProps extends Props {
  own: OwnOverride | undefined
  rows: OverrideRow[]
  onClose: () => void
}

function OwnForm({ column, name, own, rows, onClose }: FormProps) {
  const place = usePlace(column)
  const [typed, setTyped, wasCleared] = usePlaintext<string | null>(null)
  const stale = overridesQuery(place.orgId, place.environmentId)
  const save = useAction(
    async () => {
      try {
        await storeOverride(place, { name, value: typed ?? '' }, { own, rows })
      } catch (error) {
        // The form keeps what was typed. The next attempt replaces what is stored now.
        if (isConflict(error)) await invalidate(stale)
        throw error
      }
    },
    {
      stale: [stale],
      done: () => {
        showToast(`Stored your own value of ${name}.`)
        onClose()
      },
    },
  )
  return (
    <Form onSubmit={() => save.run()}>
      <Stack gap="sm">
        <Textarea
          label={`My value of ${name} in ${column.name}`}
          classNames={{ input: 'mono' }}
          autosize
          minRows={2}
          maxRows={12}
          value={typed ?? ''}
          error={wasCleared && clearedMessage}
          onChange={(event) => setTyped(event.currentTarget.value)}
          spellCheck={false}
          autoComplete="off"
          autoCorrect="off"
          autoCapitalize="off"
          data-autofocus
        />
        <ProblemAlert error={save.error} />
        <Group justify="flex-end" gap="sm">
          <Button variant="default" disabled={save.pending} onClick={onClose}>
            Cancel
          </Button>
          <Button type="submit" loading={save.pending} disabled={typed === null}>
            Save for me
          </Button>
        </Group>
      </Stack>
    </Form>
  )
}
