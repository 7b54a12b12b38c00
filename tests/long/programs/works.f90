program t
  use omp_lib
  implicit none
  integer :: i
  real(8) :: s, a(1000)
  s = 0
  !$omp parallel do reduction(+:s)
  do i = 1, 1000
    a(i) = sqrt(real(i, 8)); s = s + int(a(i))
  end do
  !$omp end parallel do
  print *, s, maxval(a), sum(matmul(reshape(a(1:100), [10,10]), reshape(a(101:200), [10,10])))
  write (*, '(F10.4)') dot_product(a, a)
end program
