import type { ComponentChildren } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { problemOf } from './words.ts'

/** The heading of a screen. It gets the focus when the screen appears, so that a screen reader reads it out. */
export function Heading({ children }: { children: string }) {
  const heading = useRef<HTMLHeadingElement>(null)
  useEffect(() => {
    document.title = children
    heading.current?.focus()
  }, [children])
  return (
    <h1 ref={heading} tabIndex={-1}>
      {children}
    </h1>
  )
}

export interface Action {
  run: (work: () => Promise<unknown>) => void
  isBusy: boolean
  problem: string | null
}

/** Runs one action of a person at a time, and keeps its error. */
export function useAction(explain: (error: unknown) => string = problemOf): Action {
  const [isBusy, setBusy] = useState(false)
  const [problem, setProblem] = useState<string | null>(null)
  const run = (work: () => Promise<unknown>) => {
    if (isBusy) return
    setBusy(true)
    setProblem(null)
    work()
      .catch((error: unknown) => setProblem(explain(error)))
      .finally(() => setBusy(false))
  }
  return { run, isBusy, problem }
}

/**
 * A region that screen readers read out when its text appears. It is always in the page, because they miss new regions.
 */
export function Told({ text, kind = 'problem' }: { text: string | null; kind?: 'problem' | 'notice' }) {
  return (
    <div class={text === null ? undefined : `told ${kind}`} role={kind === 'problem' ? 'alert' : 'status'}>
      {text}
    </div>
  )
}

interface FieldProps {
  label: string
  value: string
  onValue: (value: string) => void
  error?: string | undefined
  hint?: ComponentChildren
  isSecret?: boolean
  autocomplete?: string
}

/** A field with its label, a hint, and its own error. The person can show a secret. */
export function Field({ label, value, onValue, error, hint, isSecret = false, autocomplete = 'off' }: FieldProps) {
  const [isShown, setShown] = useState(false)
  const id = `field-${label.toLowerCase().replace(/\W+/g, '-')}`
  const described = [hint ? `${id}-hint` : '', error ? `${id}-error` : ''].filter(Boolean).join(' ')
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {hint ? (
        <p class="hint" id={`${id}-hint`}>
          {hint}
        </p>
      ) : null}
      <div class="input">
        <input
          id={id}
          {...(isSecret && !isShown ? { type: 'password' as const } : { type: 'text' as const })}
          value={value}
          onInput={(event) => onValue(event.currentTarget.value)}
          aria-invalid={error !== undefined}
          {...(described ? { 'aria-describedby': described } : {})}
          autocomplete={autocomplete}
          autocapitalize="none"
          autocorrect="off"
          spellcheck={false}
        />
        {isSecret ? (
          <button type="button" class="plain" aria-pressed={isShown} onClick={() => setShown(!isShown)}>
            {isShown ? 'Hide' : 'Show'}
            <span class="unseen"> {label}</span>
          </button>
        ) : null}
      </div>
      {error ? (
        <p class="error" id={`${id}-error`}>
          {error}
        </p>
      ) : null}
    </div>
  )
}

/** Puts the focus on the first field that is wrong, once its error is shown. */
export function useFocusOnError(errors: object) {
  const form = useRef<HTMLFormElement>(null)
  useEffect(() => {
    if (Object.keys(errors).length > 0) form.current?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus()
  }, [errors])
  return form
}
