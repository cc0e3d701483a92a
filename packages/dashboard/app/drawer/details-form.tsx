import { Button, Checkbox, Fieldset, Group, Select, Stack, TagsInput, Textarea, TextInput } from '@mantine/core'
import { limits } from '@skerry/contract/limits'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { useAction } from '../action.ts'
import { refusedField } from '../form/refused-field.ts'
import { clearedMessage, usePlaintext } from '../keyring.ts'
import { invalidate } from '../queries.ts'
import type { Layer } from '../secrets/columns.ts'
import { membersQuery } from '../secrets/use-name-of.ts'
import { isConflict } from '../secrets/write.ts'
import { Form } from '../ui/form.tsx'
import { ProblemAlert } from '../ui/problem.tsx'
import { showToast } from '../ui/toast.ts'
import { ClosedDescription } from './closed-description.tsx'
import { type DetailsChange, describe } from './describe.ts'
import { type Details, detailsQuery } from './queries.ts'
import type { Described, Description } from './use-described.ts'

interface Props {
  orgId: string
  name: string
  /** The name of the environment. */
  where: string
  layer: Layer
  row: Details | undefined
  described: Described
  hasValue: boolean
  onClose: () => void
}

/** Edits the details of a secret. The form says which of them the server can read. */
export function DetailsForm({ orgId, name, where, layer, row, described, hasValue, onClose }: Props) {
  const [typed, setTyped, wasCleared] = usePlaintext<Description | null>(null)
  // The revision of the text that the person saw when they began to type. The row may be loaded again meanwhile.
  const [seen, setSeen] = useState<number | null>(null)
  const plain = usePlainFields(row)
  const save = useAction(
    async () => {
      const change = { ...plain.change, ...(typed && { text: trimmed(typed) }) }
      const stale = detailsQuery(orgId, layer.environmentId)
      try {
        await describe({ orgId, name, layer }, change, seen ?? row?.revision ?? 0)
      } catch (error) {
        // The form keeps what was typed, and shows what is stored now. The next attempt replaces that.
        if (isConflict(error)) await invalidate(stale).then(() => setSeen(null))
        throw error
      }
      await invalidate(stale)
      showToast(`Saved the details of ${name}.`)
    },
    { done: onClose },
  )
  const refused = refusedField(save.error)
  const problem = typed && problemOf(typed)
  return (
    <Form onSubmit={() => save.run()}>
      <Stack>
        <Fieldset legend={`Encrypted: only people and programs with the key of ${where} can read this`}>
          {described.text ? (
            <TextFields
              text={typed ?? described.text}
              error={wasCleared ? clearedMessage : refused?.path === 'sealed' ? tooLong : problem}
              onChange={(text) => {
                if (typed === null) setSeen(row?.revision ?? 0)
                setTyped(text)
              }}
            />
          ) : (
            <ClosedDescription why={described.why} />
          )}
        </Fieldset>
        <PlainFields {...{ orgId, plain, where, hasValue, refused }} />
        <ProblemAlert error={refused && refused.path in shownAt ? null : save.error} />
        {isConflict(save.error) && <StoredNow described={described} />}
        <Group justify="flex-end" gap="sm">
          <Button variant="default" disabled={save.pending} onClick={onClose}>
            Cancel
          </Button>
          <Button type="submit" loading={save.pending} disabled={problem !== null}>
            Save details
          </Button>
        </Group>
      </Stack>
    </Form>
  )
}

/** The refused fields of the body that have a field in the form. */
const shownAt = { sealed: true, ownerId: true, expiresAt: true }

const tooLong = 'The description and the tags are too long together.'

const trimmed = ({ description, tags }: Description): Description => ({ description: description.trim(), tags })

function problemOf({ description, tags }: Description): string | null {
  const { descriptionCharacters, tagCharacters, tagsMax } = limits
  if ([...description.trim()].length > descriptionCharacters)
    return `A description has at most ${descriptionCharacters} characters.`
  if (tags.length > tagsMax) return `A secret has at most ${tagsMax} tags.`
  return tags.some((tag) => [...tag].length > tagCharacters) ? `A tag has at most ${tagCharacters} characters.` : null
}

function TextFields(props: { text: Description; error: string | null; onChange: (text: Description) => void }) {
  const { text, error, onChange } = props
  return (
    <Stack gap="sm">
      <Textarea
        label="Description"
        autosize
        minRows={2}
        maxRows={8}
        value={text.description}
        error={error}
        onChange={(event) => onChange({ ...text, description: event.currentTarget.value })}
        autoComplete="off"
      />
      <TagsInput
        label="Tags"
        description="Press Enter after each tag."
        maxTags={limits.tagsMax}
        value={text.tags}
        onChange={(tags) => onChange({ ...text, tags })}
      />
    </Stack>
  )
}

/** The fields that the server reads, and their changes. */
function usePlainFields(row: Details | undefined) {
  const [first] = useState({
    ownerId: row?.ownerId ?? null,
    expiresOn: row?.expiresAt?.slice(0, 10) ?? '',
    isNotNeeded: row?.notNeeded ?? false,
  })
  const [fields, setFields] = useState(first)
  const { ownerId, expiresOn, isNotNeeded } = fields
  const change: DetailsChange = {
    ...(ownerId !== first.ownerId && { ownerId }),
    // A date begins at midnight UTC, as at the command line.
    ...(expiresOn !== first.expiresOn && { expiresAt: expiresOn === '' ? null : `${expiresOn}T00:00:00.000Z` }),
    ...(isNotNeeded !== first.isNotNeeded && { notNeeded: isNotNeeded }),
  }
  const set = (some: Partial<typeof first>) => setFields({ ...fields, ...some })
  return { fields, set, change }
}

function PlainFields(props: {
  orgId: string
  plain: ReturnType<typeof usePlainFields>
  where: string
  hasValue: boolean
  refused: ReturnType<typeof refusedField>
}) {
  const { orgId, plain, where, hasValue, refused } = props
  const { fields, set } = plain
  const members = useQuery(membersQuery(orgId)).data?.members ?? []
  const errorAt = (path: string) => refused?.path === path && refused.message
  return (
    <Fieldset legend="Not encrypted: the server reads this, to send reminders">
      <Stack gap="sm">
        <Select
          label="Owner"
          placeholder="Nobody"
          searchable
          clearable
          nothingFoundMessage="No member by that name"
          data={members.map(({ userId, name, email }) => ({ value: userId, label: name ?? email ?? userId }))}
          value={fields.ownerId}
          error={errorAt('ownerId')}
          onChange={(ownerId) => set({ ownerId })}
        />
        <TextInput
          type="date"
          label="Expires"
          description="The server mails the owner two weeks before this date and once after it. Without an owner, it mails the admins."
          value={fields.expiresOn}
          error={errorAt('expiresAt')}
          onChange={(event) => set({ expiresOn: event.currentTarget.value })}
        />
        {(!hasValue || fields.isNotNeeded) && (
          <Checkbox
            label="Not needed here"
            description={`The secret is missing in ${where} on purpose.`}
            checked={fields.isNotNeeded}
            onChange={(event) => set({ isNotNeeded: event.currentTarget.checked })}
          />
        )}
      </Stack>
    </Fieldset>
  )
}

/** The text that somebody else has stored meanwhile. */
function StoredNow({ described }: { described: Described }) {
  if (!described.text) return null
  const { description, tags } = described.text
  return (
    <div>
      <b>Stored now:</b> {[description, tags.join(', ')].filter(Boolean).join(' · ') || 'no description and no tags'}.
      Save again to replace it.
    </div>
  )
}
