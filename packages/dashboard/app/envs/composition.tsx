import {
  closestCenter,
  DndContext,
  type DragEndEvent,
  KeyboardSensor,
  PointerSensor,
  useSensor,
  useSensors,
} from '@dnd-kit/core'
import {
  arrayMove,
  SortableContext,
  sortableKeyboardCoordinates,
  useSortable,
  verticalListSortingStrategy,
} from '@dnd-kit/sortable'
import { ActionIcon, Button, Group, Paper, Select, Stack, Text, Tooltip } from '@mantine/core'
import type { Answer } from '@skerry/contract/endpoint'
import type { composition } from '@skerry/contract/groups/endpoints'
import { SkerryError } from '@skerry/sdk/errors'
import { slugsInOrder } from '@skerry/sdk/internal/directory/group-order'
import { useQuery } from '@tanstack/react-query'
import { useRouteContext } from '@tanstack/react-router'
import { useAction } from '../action.ts'
import { api } from '../api.ts'
import { useApiForm } from '../form/use-api-form.ts'
import { invalidate, queryClient } from '../queries.ts'
import { compositionQuery, groupsQuery } from '../secrets/queries.ts'
import type { Environment } from '../secrets/use-columns.ts'
import { Empty } from '../ui/empty.tsx'
import { FormDialog } from '../ui/form-dialog.tsx'
import { IconGripVertical, IconX } from '../ui/icons.ts'
import { Loaded } from '../ui/loaded.tsx'
import { Section } from '../ui/page.tsx'
import { ProblemAlert } from '../ui/problem.tsx'
import { useDialog } from '../ui/use-dialog.ts'

type Composed = Answer<typeof composition.list>['groups'][number]

/** The groups whose values the environment's programs also get, in the order in which they override each other. */
export function Composition({ environment }: { environment: Environment }) {
  const { org } = useRouteContext({ from: '/_app/orgs/$org' })
  const query = useQuery(compositionQuery(org.id, environment.id))
  const adding = useDialog()
  const isAdmin = org.role !== 'member'
  const addButton = isAdmin && (
    <Button variant="default" onClick={() => adding.open()}>
      Add a group
    </Button>
  )
  return (
    <Section
      title="Composition"
      description={`This environment also gets the secrets of these groups, from their environment ${environment.slug}. A group further down overrides the groups above it. The environment’s own secrets override them all.`}
      actions={query.data?.groups.length ? addButton : null}
    >
      <Loaded query={query}>
        {({ groups }) =>
          groups.length === 0 ? (
            <Empty
              title="No group is composed in"
              action={addButton}
              command={isAdmin && `skerry compose add shared --env ${environment.slug}`}
            />
          ) : (
            <Order environment={environment} groups={groups} mayChange={isAdmin} />
          )
        }
      </Loaded>
      {adding.show((onClose) => (
        <AddDialog environment={environment} composed={query.data?.groups ?? []} onClose={onClose} />
      ))}
    </Section>
  )
}

function Order({
  environment,
  groups,
  mayChange,
}: {
  environment: Environment
  groups: Composed[]
  mayChange: boolean
}) {
  const { org } = useRouteContext({ from: '/_app/orgs/$org' })
  const params = { orgId: org.id, envId: environment.id }
  const sensors = useSensors(
    useSensor(PointerSensor, { activationConstraint: { distance: 4 } }),
    useSensor(KeyboardSensor, { coordinateGetter: sortableKeyboardCoordinates }),
  )
  const reorder = useAction((ordered: Composed[]) => storeOrder(params, groups, ordered))
  const remove = useAction(
    ({ groupId, slug }: Composed) =>
      api.composition.delete({ params: { ...params, groupId } }, { typed: { owner: slug } }),
    { stale: [compositionQuery(org.id, environment.id)] },
  )
  const place = (id: unknown) => groups.findIndex(({ groupId }) => groupId === id)
  const onDragEnd = ({ active, over }: DragEndEvent) => {
    if (over && active.id !== over.id) void reorder.run(arrayMove(groups, place(active.id), place(over.id)))
  }
  const nameOf = (id: unknown) => groups.find(({ groupId }) => groupId === id)?.name ?? ''
  const moved = (id: unknown, over: unknown) =>
    over === undefined ? undefined : `${nameOf(id)} is at place ${place(over) + 1} of ${groups.length}.`
  return (
    <Stack gap="xs">
      <DndContext
        sensors={sensors}
        collisionDetection={closestCenter}
        onDragEnd={onDragEnd}
        accessibility={{
          announcements: {
            onDragStart: ({ active }) => `Picked up ${nameOf(active.id)}.`,
            onDragOver: ({ active, over }) => moved(active.id, over?.id),
            onDragEnd: ({ active, over }) => moved(active.id, over?.id),
            onDragCancel: ({ active }) => `${nameOf(active.id)} stays where it was.`,
          },
        }}
      >
        <SortableContext items={groups.map(({ groupId }) => groupId)} strategy={verticalListSortingStrategy}>
          <Stack
            gap={6}
            component="ol"
            m={0}
            p={0}
            style={{ listStyle: 'none' }}
            aria-label="Groups, lowest precedence first"
          >
            {groups.map((group) => (
              <Item
                key={group.groupId}
                group={group}
                mayChange={mayChange}
                isStoring={reorder.pending}
                onRemove={() => remove.run(group)}
              />
            ))}
          </Stack>
        </SortableContext>
      </DndContext>
      <Paper p="xs" px="sm">
        <Text size="sm" c="dimmed">
          {environment.name}: its own secrets, which override all
        </Text>
      </Paper>
      <ProblemAlert error={reorder.error ?? remove.error} />
    </Stack>
  )
}

/** Stores a new order. Each group from the first moved one on gets a new position, so that no two share one. */
async function storeOrder(params: { orgId: string; envId: string }, before: Composed[], ordered: Composed[]) {
  const query = compositionQuery(params.orgId, params.envId)
  if (slugsInOrder(before).join() !== before.map(({ slug }) => slug).join())
    throw new SkerryError('conflict', 'the server shows the groups in another order than their positions')
  queryClient.setQueryData(query.queryKey, { groups: ordered })
  try {
    const first = ordered.findIndex((group, i) => group !== before[i])
    const base = first > 0 ? (ordered[first - 1]?.position ?? 0) + 1 : 0
    const placed = new Map(before.map(({ slug, position }) => [slug, position]))
    for (const [i, { groupId, slug }] of ordered.slice(first).entries()) {
      placed.set(slug, base + i)
      // The last order is the one on the page. A signer signs no other order than these.
      const groups = slugsInOrder([...placed].map(([one, position]) => ({ slug: one, position })))
      await api.composition.set({ params, body: { groupId, position: base + i } }, { typed: { owner: slug, groups } })
    }
  } finally {
    // After a failure the page still shows the wanted order, though perhaps only a part of it was stored.
    await invalidate(query)
  }
}

function Item(props: { group: Composed; mayChange: boolean; isStoring: boolean; onRemove: () => void }) {
  const { group, mayChange, isStoring, onRemove } = props
  const { attributes, listeners, setNodeRef, setActivatorNodeRef, transform, transition, isDragging } = useSortable({
    id: group.groupId,
    // Only one move at a time, because a second one would use outdated positions.
    disabled: !mayChange || isStoring,
  })
  const style = {
    transform: transform ? `translateY(${transform.y}px)` : undefined,
    transition: transition ?? undefined,
    zIndex: isDragging ? 1 : undefined,
    position: 'relative' as const,
  }
  return (
    <Paper component="li" ref={setNodeRef} style={style} p={6} px="sm" shadow={isDragging ? 'md' : 'none'}>
      <Group justify="space-between" wrap="nowrap" gap="xs">
        <Group gap="xs" wrap="nowrap" miw={0}>
          {mayChange && (
            <ActionIcon
              ref={setActivatorNodeRef}
              variant="subtle"
              color="gray"
              style={{ cursor: 'grab', touchAction: 'none' }}
              {...attributes}
              {...listeners}
              aria-label={`Move ${group.name}`}
            >
              <IconGripVertical size={16} />
            </ActionIcon>
          )}
          <Text size="sm" fw={500} truncate title={group.name}>
            {group.name}
          </Text>
          <Text size="xs" c="dimmed" className="mono" truncate title={group.slug}>
            {group.slug}
          </Text>
        </Group>
        {mayChange && (
          <Tooltip label={`Take ${group.name} out`} withArrow>
            <ActionIcon variant="subtle" color="gray" aria-label={`Take ${group.name} out`} onClick={onRemove}>
              <IconX size={16} />
            </ActionIcon>
          </Tooltip>
        )}
      </Group>
    </Paper>
  )
}

function AddDialog(props: { environment: Environment; composed: Composed[]; onClose: () => void }) {
  const { environment, composed, onClose } = props
  const { org } = useRouteContext({ from: '/_app/orgs/$org' })
  const query = useQuery(groupsQuery(org.id))
  const form = useApiForm('composition', 'set', { groupId: '' })
  const taken = new Set(composed.map((group) => group.groupId))
  const free = (query.data?.groups ?? []).filter(({ id }) => !taken.has(id))
  return (
    <FormDialog
      title={`Compose a group into ${environment.name}`}
      submit="Add"
      form={form}
      onClose={onClose}
      disabled={form.values.groupId === ''}
      onSubmit={(body) => {
        const typed = { owner: free.find(({ id }) => id === body.groupId)?.slug }
        return api.composition.set({ params: { orgId: org.id, envId: environment.id }, body }, { typed })
      }}
      stale={[compositionQuery(org.id, environment.id)]}
    >
      {query.data && free.length === 0 ? (
        <Text size="sm">Every group is already in the list. To add another, create it on the page Groups first.</Text>
      ) : (
        <>
          <Select
            label="Group"
            searchable
            data={free.map(({ id, name }) => ({ value: id, label: name }))}
            nothingFoundMessage="No other group"
            allowDeselect={false}
            data-autofocus
            {...form.getInputProps('groupId')}
          />
          <Text size="sm" c="dimmed">
            Programs of {environment.name} also need the key of the group’s environment {environment.slug}.
          </Text>
        </>
      )}
    </FormDialog>
  )
}
