import { useEffect, useRef } from 'react'

/** A check box of the matrix, or of a grid. It uses no Mantine component, because scrolling renders hundreds of rows. */
export function SelectBox(props: {
  label: string
  isChecked: boolean
  /** Some of several are selected. */
  isMixed?: boolean
  isDisabled?: boolean
  /** `isRange` says whether Shift was held. */
  onChange: (isChecked: boolean, isRange: boolean) => void
}) {
  const { label, isChecked, isMixed = false, isDisabled = false, onChange } = props
  const box = useRef<HTMLInputElement>(null)
  useEffect(() => {
    if (box.current) box.current.indeterminate = isMixed
  }, [isMixed])
  return (
    <label className="matrix-select" title={label}>
      <input
        ref={box}
        type="checkbox"
        aria-label={label}
        checked={isChecked}
        disabled={isDisabled}
        onChange={({ currentTarget, nativeEvent }) =>
          onChange(currentTarget.checked, nativeEvent instanceof MouseEvent && nativeEvent.shiftKey)
        }
      />
    </label>
  )
}
