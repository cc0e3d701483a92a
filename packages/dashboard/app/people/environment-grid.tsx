import '../secrets/selection.css'
import './environment-grid.css'
import { SegmentedControl, TextInput } from '@mantine/core'
import { useMemo, useState } from 'react'
import { hueOf } from '../look/environments.ts'
import type { Owner } from '../requests/queries.ts'
import { SelectBox } from '../secrets/select-box.tsx'
import { EnvName } from '../ui/env-name.tsx'
import { IconCheck, IconLock, IconSearch, IconTriangleAlert } from '../ui/icons.ts'
import {
  choiceOf,
  choose,
  columnsOf,
  type GridColumn,
  type OwnedEnvironment,
  type Take,
  takenBy,
} from './environment-choice.ts'

interface GridProps {
  /** The applications and groups of `ownersQuery`. */
  owners: readonly Owner[]
  /** The ids of the ticked environments. */
  chosen: ReadonlySet<string>
  onChange: (chosen: ReadonlySet<string>) => void
  /** Environments that need no tick, because everybody chosen can read them. */
  has?: ReadonlySet<string>
  /** Returns the reason why an environment cannot be ticked, or null. */
  blockedBecause?: (environment: OwnedEnvironment) => string | null
  /** Says what happens with a ticked environment whose key this person does not hold. */
  unheldText: string
  /** Errors of environments, by id. */
  problems?: ReadonlyMap<string, string>
  isDisabled?: boolean
}

/** With more applications than this, the grid has a search field. */
const searchedAbove = 12

/**
 * Applications and groups by environments, to choose from. A tick at an application takes all but production.
 *
 * @example <EnvironmentGrid owners={owners.data} chosen={chosen} onChange={setChosen} unheldText="…" />
 */
export function EnvironmentGrid(props: GridProps) {
  const owners = useMemo(() => props.owners.filter(({ environments }) => environments.length > 0), [props.owners])
  const columns = useMemo(() => columnsOf(owners), [owners])
  const [take, setTake] = useState<Take>('all-but-production')
  const [search, setSearch] = useState('')
  const shown = owners.filter(({ name }) => name.toLowerCase().includes(search.trim().toLowerCase()))
  const hasOthers = owners.some((owner) => othersOf(owner, columns).length > 0)
  if (owners.length === 0) return <p className="help">There is no environment yet.</p>
  return (
    <div className="env-grid">
      <div className="env-grid-tools">
        {owners.length > searchedAbove && (
          <TextInput
            aria-label="Find an application"
            placeholder="Find an application"
            leftSection={<IconSearch size={15} />}
            value={search}
            onChange={(event) => setSearch(event.currentTarget.value)}
          />
        )}
        <span className="help">A tick at an application takes</span>
        <SegmentedControl
          aria-label="A tick at an application takes"
          value={take}
          data={[
            { value: 'all-but-production', label: 'all but production' },
            { value: 'all', label: 'all' },
          ]}
          onChange={(value) => setTake(value as Take)}
        />
      </div>
      <div className="env-grid-scroll">
        <table aria-label="Environments">
          <Head {...props} {...{ columns, hasOthers }} owners={shown} />
          <tbody>
            {shown.map((owner) => (
              <Row key={owner.id} {...props} {...{ owner, columns, take, hasOthers }} />
            ))}
          </tbody>
        </table>
      </div>
      <Legend {...props} owners={shown} />
    </div>
  )
}

const othersOf = ({ environments }: Owner, columns: readonly GridColumn[]) =>
  environments.filter(({ slug }) => !columns.some((column) => column.slug === slug))

const canBeChosen = ({ has, blockedBecause }: GridProps, environment: OwnedEnvironment) =>
  !has?.has(environment.id) && (blockedBecause?.(environment) ?? null) === null

function Head(props: GridProps & { columns: GridColumn[]; hasOthers: boolean }) {
  const { owners, columns, hasOthers, chosen, onChange, isDisabled = false } = props
  return (
    <thead>
      <tr>
        <th scope="col">Application</th>
        {columns.map(({ slug, name }) => {
          const all = owners.flatMap(({ environments }) => environments.filter((one) => one.slug === slug))
          const choosable = all.filter((one) => canBeChosen(props, one))
          const { isAll, isSome } = choiceOf(choosable, chosen)
          return (
            <th scope="col" key={slug}>
              <span className="env" data-hue={hueOf(slug)} data-short={name.slice(0, 4)} title={name}>
                <span>{name}</span>
              </span>
              <SelectBox
                label={`${name} of every application`}
                isChecked={isAll}
                isMixed={isSome}
                isDisabled={isDisabled || choosable.length === 0}
                onChange={(isAdded) => onChange(choose(chosen, choosable, isAdded))}
              />
            </th>
          )
        })}
        {hasOthers && <th scope="col">Others</th>}
      </tr>
    </thead>
  )
}

function Row(props: GridProps & { owner: Owner; columns: GridColumn[]; take: Take; hasOthers: boolean }) {
  const { owner, columns, take, hasOthers, chosen, onChange, isDisabled = false } = props
  const choosable = owner.environments.filter((one) => canBeChosen(props, one))
  const taken = takenBy(take, choosable)
  const { isAll, isSome } = choiceOf(choosable, chosen)
  const isTaken = choiceOf(taken, chosen).isAll
  const toggle = () => onChange(isTaken ? choose(chosen, choosable, false) : choose(chosen, taken, true))
  return (
    <tr>
      <th scope="row">
        <span className="env-grid-owner">
          <SelectBox
            label={take === 'all' ? `${owner.name}, all environments` : `${owner.name}, all but production`}
            isChecked={isAll}
            isMixed={isSome}
            isDisabled={isDisabled || taken.length === 0}
            onChange={toggle}
          />
          <span>
            {owner.name} {owner.kind === 'group' && <span className="help">group</span>}
          </span>
        </span>
      </th>
      {columns.map(({ slug }) => {
        const environment = owner.environments.find((one) => one.slug === slug)
        return <td key={slug}>{environment && <Cell {...props} {...{ owner, environment }} />}</td>
      })}
      {hasOthers && (
        <td>
          <span className="env-grid-others">
            {othersOf(owner, columns).map((environment) => (
              <span key={environment.id}>
                <Cell {...props} {...{ owner, environment }} />
                <EnvName name={environment.name} slug={environment.slug} />
              </span>
            ))}
          </span>
        </td>
      )}
    </tr>
  )
}

function Cell(props: GridProps & { owner: Owner; environment: OwnedEnvironment }) {
  const { owner, environment, chosen, onChange, has, blockedBecause, problems, isDisabled = false } = props
  const { id, canDecrypt } = environment
  const name = `${environment.name} of ${owner.name}`
  if (has?.has(id)) return <Mark label={`${name}: can read it already`} />
  const blocked = blockedBecause?.(environment) ?? null
  if (blocked !== null) return <Lock label={`${name}: ${blocked}`} />
  const problem = problems?.get(id)
  return (
    <span className="env-grid-cell" data-unheld={!canDecrypt || undefined}>
      <SelectBox
        label={canDecrypt ? name : `${name}, you do not hold the key`}
        isChecked={chosen.has(id)}
        isDisabled={isDisabled}
        onChange={(isAdded) => onChange(choose(chosen, [environment], isAdded))}
      />
      {!canDecrypt && <IconLock size={12} aria-hidden />}
      {problem !== undefined && (
        <span className="env-grid-problem" role="img" aria-label={`${name}: ${problem}`} title={problem}>
          <IconTriangleAlert size={12} aria-hidden />
        </span>
      )}
    </span>
  )
}

function Mark({ label }: { label: string }) {
  return (
    <span className="held" role="img" aria-label={label} title={label}>
      <IconCheck size={12} strokeWidth={1.8} />
    </span>
  )
}

function Lock({ label }: { label: string }) {
  return (
    <span className="env-grid-lock" role="img" aria-label={label} title={label}>
      <IconLock size={14} aria-hidden />
    </span>
  )
}

/** Explains the marks that the grid shows. */
function Legend(props: GridProps) {
  const { owners, has, unheldText, blockedBecause } = props
  const all = owners.flatMap(({ environments }) => environments)
  const hasUnheld = all.some((one) => !one.canDecrypt && canBeChosen(props, one))
  const reasons = new Set(all.flatMap((one) => (has?.has(one.id) ? [] : (blockedBecause?.(one) ?? []))))
  const texts = [...(hasUnheld ? [unheldText] : []), ...reasons]
  return (
    <div className="env-grid-legend help">
      {texts.map((text) => (
        <span key={text}>
          <IconLock size={12} aria-hidden /> {text}
        </span>
      ))}
      {all.some(({ id }) => has?.has(id)) && (
        <span>
          <span className="held" aria-hidden>
            <IconCheck size={12} strokeWidth={1.8} />
          </span>{' '}
          can read it already
        </span>
      )}
    </div>
  )
}
