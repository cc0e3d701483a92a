import { EnvName } from '../ui/env-name.tsx'
import { IconLock } from '../ui/icons.ts'
import type { Column } from './columns.ts'

/** Chooses one environment of a matrix. A lock marks environments whose key this person lacks. */
export function EnvironmentTabs(props: { columns: Column[]; only: Column; onChoose: (column: Column) => void }) {
  const { columns, only, onChoose } = props
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset cannot be a row of tabs
    <div role="group" aria-label="Environment" className="tabs">
      {columns.map((column) => (
        <button
          key={column.environmentId}
          type="button"
          aria-pressed={column.environmentId === only.environmentId}
          onClick={() => onChoose(column)}
        >
          <EnvName name={column.name} slug={column.isBranch ? 'branch' : column.slug} />
          {!column.own && !column.loading && <IconLock size={12} aria-label="you hold no key" />}
        </button>
      ))}
    </div>
  )
}
